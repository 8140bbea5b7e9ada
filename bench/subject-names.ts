/** The servers that are measured, as the tables name them. */
export const names = {
  ours: 'SVC Gateway',
  oidcMongo: 'oidc-provider, MongoDB',
  oidcMemory: 'oidc-provider, memory',
  oauth2: 'oauth2-server, MongoDB',
} as const;

/** What is shown of SVC Gateway at so many server processes. */
export const oursWith = (processes: number): string =>
  processes === 1 ? names.ours : `${names.ours}, ${processes} processes`;
