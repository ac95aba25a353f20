/** Where agents keep skills that others may use too, below a project or the user's home; what stands last wins. */
export const SHARED_SKILLS = [".claude/skills", ".agents/skills"];
