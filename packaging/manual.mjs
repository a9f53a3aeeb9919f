// The man page and the completion of bash, made of what `gapstone --help` and `gapstone COMMAND --help` say, so that neither
// can say anything else. `help` is a function from arguments to that text. Plain JavaScript, as the build is.

/** The lines below a title of a help text. */
const section = (text, title) =>
  new RegExp(`^${title}:\\n((?: .*\\n?)+)`, 'm').exec(text)?.[1].trimEnd() ?? '';

/** A command with its help, its options, and the commands below it. */
function commandOf(help, words = []) {
  const text = help([...words, '--help']).trimEnd();
  const names = [...section(text, 'Commands').matchAll(/^ {2}([a-z-]+)/gm)].map(([, name]) => name);
  return {
    words,
    text,
    options: [...section(text, 'Options').matchAll(/^ {2}(?:-\w, )?(--[a-z-]+)/gm)].map(
      ([, option]) => option,
    ),
    commands: names.filter((name) => name !== 'help').map((name) => commandOf(help, [...words, name])),
  };
}

/** All commands below one. */
const below = ({ commands }) => commands.flatMap((each) => [each, ...below(each)]);

const escaped = (text) =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1');
const block = (text) => `.nf\n${escaped(text)}\n.fi`;

/** The man page, in section 1. */
export function manPage(help, version) {
  const program = commandOf(help);
  const parts = below(program).map(({ words, text }) => {
    const environment = `\nEnvironment:\n${section(text, 'Environment')}\n`;
    return `.SS ${words.join(' ')}\n${block(text.replace(environment, ''))}\n`;
  });
  const settings = section(program.commands.find(({ words }) => words[0] === 'config').text, 'Environment');
  const examples = section(program.text, 'Examples');
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
${parts.join('')}.SH ENVIRONMENT
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
  const program = commandOf(help);
  const wordsOf = ({ commands, options }) =>
    [...commands.map(({ words }) => words.at(-1)), ...options].join(' ');
  const cases = below(program)
    // The first pattern that fits counts: `content trust add` before `content trust`.
    .sort((a, b) => b.words.length - a.words.length)
    .map((each) => `    '${each.words.join(' ')} '*) words='${wordsOf(each)}' ;;`);
  return `# bash completion for gapstone
_gapstone() {
  local words current=\${COMP_WORDS[COMP_CWORD]}
  case "\${COMP_WORDS[*]:1:COMP_CWORD-1} " in
${cases.join('\n')}
    ' ') words='${wordsOf(program)} help version' ;;
    *) words='' ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; [[ $COMP_CWORD -eq 1 || $current == -* ]] || compgen -f -- "$current")
}
complete -o filenames -F _gapstone gapstone
`;
}
