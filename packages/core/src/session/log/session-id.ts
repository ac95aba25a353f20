/** Creates an id. Ids sort by time, and the random part distinguishes sessions of the same moment. */
export function createSessionId(): string {
  const time = new Date().toISOString().slice(0, 19).replace(/[-:]/g, "");
  const random = Math.floor(Math.random() * 0x1000000).toString(16);
  return `${time}-${random.padStart(6, "0")}`;
}
