/** All that a run yields, when it has ended. */
export async function eventsOf<Event>(run: AsyncIterable<Event>): Promise<Event[]> {
  const events: Event[] = [];
  for await (const event of run) events.push(event);
  return events;
}
