/** The folders in which agents share skills, in a project or in the user's home. Later ones win. */
export const SHARED_SKILLS = [".claude/skills", ".agents/skills"];
