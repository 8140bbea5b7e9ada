/** The measured servers, by their names in the tables. */
export const names = {
  ours: 'SVC Gateway',
  oidcMongo: 'oidc-provider, MongoDB',
  oidcMemory: 'oidc-provider, memory',
  oauth2: 'oauth2-server, MongoDB',
  bullmq: 'BullMQ, Redis',
  graphile: 'graphile-worker, PostgreSQL',
  agenda: 'Agenda, MongoDB',
} as const;

/** The name of SVC Gateway with this number of server processes. */
export const oursWith = (processes: number): string =>
  processes === 1 ? names.ours : `${names.ours}, ${processes} processes`;
