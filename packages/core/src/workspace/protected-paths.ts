/**
 * Names below a root that run code later or change what Burin itself may do, so that no command may write
 * them. They are protected also while they do not exist.
 */
export const PROTECTED_FOLDERS: readonly string[] = [
  ".burin",
  ".vscode",
  ".idea",
  ".zed",
  ".cursor",
  ".claude",
  ".mcp.json",
  ".envrc",
];

/** Protected where they exist: a stand-in for a missing one would break the programs that look for it. */
export const PROTECTED_FILES: readonly string[] = [".env", ".gitconfig"];

/** Protected in a root that is a person's home folder. */
export const PROTECTED_IN_HOME: readonly string[] = [
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".bash_logout",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".zlogin",
  ".config",
  ".ssh",
  ".gnupg",
  ".local/bin",
];

/** Of a git folder: what git runs or obeys. The rest stays writable, so that commits work. */
export const PROTECTED_IN_GIT: readonly string[] = ["hooks", "config", "config.worktree"];
