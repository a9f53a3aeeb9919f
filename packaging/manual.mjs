// The man page and the completion of bash, made of what `gapstone --help` and `gapstone COMMAND --help` say, so that neither
// can say anything else. `help` is a function from arguments to that text. Plain JavaScript, as the build is.

/** The commands in their order: name, summary, usage lines, the lines about options, and the options themselves. */
export function commandsOf(help) {
  return [...help(['--help']).matchAll(/^ {2}(\S+) {2,}(.+)$/gm)].map(([, name, summary]) => {
    const [head, ...rest] = help([name, '--help']).split('\n\n');
    const usage = head.split('\n').filter((line) => /^gapstone |^ /.test(line));
    const lines = rest.join('\n\n').trimEnd().split('\n');
    const words = usage.join(' ');
    const options = [...new Set([...words.matchAll(/--[a-z-]+/g)].map(String)), '--help'].sort();
    // `content trust add`, but not what stands for something.
    const below = usage.flatMap((line) => new RegExp(`^gapstone ${name} ([a-z]+)\\b`).exec(line)?.[1] ?? []);
    return { name, summary, usage, lines, options, below: [...new Set(below)] };
  });
}

const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
const block = (lines) => ['.nf', ...lines.map(escaped), '.fi'].join('\n');

/** The man page, in section 1. */
export function manPage(help, version) {
  const commands = commandsOf(help).map(
    ({ name, summary, usage, lines }) =>
      `.SS ${escaped(name)}\n${escaped(`${summary[0].toUpperCase()}${summary.slice(1)}.`)}\n.PP\n${block(usage)}\n.PP\n${block(lines)}\n`,
  );
  return `.TH GAPSTONE 1 "" "Gapstone ${version}" "User Commands"
.SH NAME
gapstone \\- an offline catalog of STIGs, security controls and their crosswalk
.SH SYNOPSIS
.B gapstone
.I COMMAND
[options]
.br
.B gapstone \\-\\-help
|
.B \\-\\-version
.SH DESCRIPTION
Gapstone serves the STIGs, controls and mappings that were imported, over HTTP, from two files in one folder. It opens no
connection to anywhere. Options win over the environment, the environment over defaults.
.SH COMMANDS
${commands.join('')}.SH FILES
.TP
.I /var/lib/gapstone
The data of the rpm: the catalog gapstone.db, users' data gapstone\\-users.db, the local key, the audit stream.
.TP
.I gapstone\\-data
The same of the tar, beside the folder of the package.
.TP
.I /etc/gapstone/gapstone.env
The environment of the service of the rpm.
.SH EXIT STATUS
0 success; 1 failure, with one line on standard error; 2 wrong usage. Import: 3 where some sources were rejected.
.SH SEE ALSO
docs/operate.md of the package; https of your own server, page /docs.
`;
}

/** What bash completes: commands, what stands below them, their options, else files. */
export function bashCompletion(help) {
  const commands = commandsOf(help);
  const cases = commands.map(({ name, below, options }) => {
    const words = [...below, ...options].join(' ');
    return `    ${name}) words='${words}' ;;`;
  });
  return `# bash completion for gapstone
_gapstone() {
  local words current=\${COMP_WORDS[COMP_CWORD]}
  if [ "$COMP_CWORD" -eq 1 ]; then
    words='${[...commands.map(({ name }) => name), '--help', '--version'].join(' ')}'
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  case \${COMP_WORDS[1]} in
${cases.join('\n')}
    *) words='' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; [[ $current == -* ]] || compgen -f -- "$current")
}
complete -o filenames -F _gapstone gapstone
`;
}
