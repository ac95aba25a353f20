/** What tools of other agents are called that do the work of ours, where no spelling is near; models know them. */
const ELSEWHERE = {
  run_shell_command: "bash shell sh terminal exec execute executecommand runcommand runterminalcmd",
  search_file_content: "grep rg ripgrep search grepsearch searchfiles",
  list_directory: "ls dir listdir listfiles",
  read_file: "read cat view open",
  write_file: "create createfile",
  edit: "replace strreplace strreplaceeditor multiedit applypatch applydiff",
  glob: "find findfiles filesearch",
  task: "agent",
};

/** The tool of ours that does the work of the one with this name, if it is known from elsewhere. */
export function nameHere(name: string): string | undefined {
  const plain = name.replace(/^.*[.:/]|[\s_-]+/g, "").toLowerCase();
  return Object.entries(ELSEWHERE).find(([, names]) => names.split(" ").includes(plain))?.[0];
}
