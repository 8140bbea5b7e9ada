/** Descriptions of the groups of commands in `svc --help`. */
export const topics: Readonly<Record<string, { description: string; hidden?: boolean }>> = {
  autocomplete: { description: 'completion in your shell', hidden: true },
  bulk: { description: 'jobs of the server on many deliveries' },
  clients: { description: 'OAuth and storefront clients' },
  deliveries: { description: 'deliveries of events' },
  enrollments: { description: 'enrollments of users' },
  events: { description: 'events and what became of them' },
  integrations: { description: 'storefront integrations' },
  keys: { description: 'API keys' },
  limits: { description: 'spend caps' },
  logo: { description: 'the logo on the hosted pages' },
  members: { description: 'people who may sign in to the portal' },
  profiles: { description: 'servers that you signed in to' },
  requests: { description: 'requests of your programs and users' },
  sessions: { description: 'sessions of the hosted flow' },
  warnings: { description: 'warnings, and who gets them' },
  webhooks: { description: 'webhook URLs of API keys' },
};
