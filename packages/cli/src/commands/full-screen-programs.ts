const PROGRAMS = new Set([
  ..."vim,vi,nvim,view,nano,micro,emacs,hx,helix,joe,mcedit,less,more,most,man".split(","),
  ..."top,htop,btop,atop,watch,tig,lazygit,lazydocker,k9s,ranger,nnn,lf,mc,fzf,tmux,screen".split(","),
  ..."ssh,telnet,psql,mysql,sqlite3,redis-cli,ftp,sftp,gdb,lldb".split(","),
]);
/** Programs that are interactive when they get no arguments. */
const WITHOUT_ARGUMENTS = new Set("python,python3,node,irb,ghci,bash,sh,zsh,fish,bc,lua".split(","));
const GIT: readonly RegExp[] = [
  /^commit(?!.*\s(?:-m|-[a-zA-Z]*m|--message|-F|--file|-C|--no-edit|--fixup))/,
  /^rebase\s.*(?:-i|--interactive)/,
  /^(?:add|checkout|reset|stash push|restore)\s.*(?:-p|--patch|-i\b)/,
];

/** Whether a command starts a program that takes over the terminal or asks the user there. */
export function needsTerminal(command: string): boolean {
  // Variables and sudo may precede the program. A program that pipes its output elsewhere does not take over the
  // terminal.
  const [, program = "", rest = ""] =
    /^\s*(?:(?:[A-Za-z_]\w*=\S*|sudo|env|exec)\s+)*([^\s|;&<>]+)([^|;&<>]*)(?:;|&&|$)/.exec(command) ?? [];
  const name = program.replace(/^.*\//, "");
  const words = rest.trim();
  if (/^(?:--?version|--?help|-[hV])$/.test(words)) return false;
  if (name === "git") return GIT.some((each) => each.test(words));
  return PROGRAMS.has(name) || (WITHOUT_ARGUMENTS.has(name) && words === "");
}
