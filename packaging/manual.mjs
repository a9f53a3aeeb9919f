// The man page and the completion of bash, made of what `gapstone --help` and `gapstone COMMAND --help` say, so that neither
// can say anything else. `help` is a function from arguments to that text. Plain JavaScript, as the build is.

/** The commands in their order: name, summary, usage lines, the lines about options, and the options themselves. */
export function commandsOf(help) {
  return [...help(['--help']).matchAll(/^ {2}([a-z-]+) {2,}(.+(?:\n {10,}.+)*)$/gm)].map(([, name, text]) => {
    const summary = text.replace(/\n +/g, ' ');
    const [head, ...rest] = help([name, '--help']).trimEnd().split('\n\n');
    const usage = head.split('\n').filter((line) => /^gapstone |^ /.test(line));
    // `Options:`, `Environment:`, `Exit codes:` and `Examples:`, each with its lines.
    const sections = Object.fromEntries(rest.map((part) => part.split(':\n', 2)));
    const words = usage.join(' ');
    const options = [...new Set([...words.matchAll(/--[a-z-]+/g)].map(String)), '--help'].sort();
    // `content trust add`, but not what stands for something.
    const below = usage.flatMap((line) => new RegExp(`^gapstone ${name} ([a-z]+)\\b`).exec(line)?.[1] ?? []);
    return { name, summary, usage, sections, options, below: [...new Set(below)] };
  });
}

const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
const block = (text) => `.nf\n${escaped(text)}\n.fi`;
const part = ([title, text]) => `.PP\n${title}:\n.PP\n${block(text)}\n`;

/** The man page, in section 1. */
export function manPage(help, version) {
  const all = commandsOf(help);
  const commands = all.map(
    ({ name, summary, usage, sections: { Environment: _, ...sections } }) =>
      `.SS ${escaped(name)}\n${escaped(`${summary[0].toUpperCase()}${summary.slice(1)}.`)}\n.PP\n${block(usage.join('\n'))}\n${Object.entries(sections).map(part).join('')}`,
  );
  const settings = all.find(({ name }) => name === 'config').sections.Environment;
  const examples = help(['--help']).split('\nExamples:\n')[1].trimEnd();
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
connection to anywhere. Options win over the environment, the environment over gapstone.env, that over defaults.
.SH COMMANDS
${commands.join('')}.SH ENVIRONMENT
Each of these may stand in gapstone.env, too; \\fBgapstone config\\fR prints what counts.
.PP
${block(settings)}
.SH EXAMPLES
${block(examples)}
.SH FILES
.TP
.I /var/lib/gapstone
The data of the rpm: the catalog gapstone.db, users' data gapstone\\-users.db, the local key, the audit stream.
.TP
.I gapstone\\-data
The same of the tar, beside the folder of the package.
.TP
.I /etc/gapstone/gapstone.env
The settings of the rpm, which every command reads; of the tar gapstone.env beside the folder of the package.
.SH EXIT STATUS
0 success; 1 failure, with one line on standard error; 2 wrong usage. Import: 3 where some sources were rejected.
.SH SEE ALSO
docs/operate.md of the package and the pages that it names; https of your own server, page /docs.
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
    words='${[...commands.map(({ name }) => name), 'help', 'version', '--help', '--version'].join(' ')}'
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
