/** Returns the same parts, after the first one was made. So a fault of the first part is answered with a status of its own. */
export async function afterFirst(parts: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  const first = await parts.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* parts;
  })();
}
