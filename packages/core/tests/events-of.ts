/** Returns all events of a run, when it has ended. */
export async function collectEvents<Event>(run: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return events;
}
