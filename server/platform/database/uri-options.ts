/** Options of a connection string that would override how durable writes are and what reads may see. */
const decided = ['w', 'journal', 'j', 'wtimeout', 'wtimeoutms', 'readconcernlevel', 'readpreference'];

/** The options of `uri` that are this service's to decide, as they are written there. */
export function decidedOptions(uri: string): string[] {
  const [, query = ''] = uri.split('?', 2);
  const names = [...new URLSearchParams(query).keys()];
  return names.filter((name) => decided.includes(name.toLowerCase()));
}
