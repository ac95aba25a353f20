/** Where agents keep skills that others may use too, in a project or in the user's home; later ones win. */
export const SHARED_SKILLS = [".claude/skills", ".agents/skills"];
