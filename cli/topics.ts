/** What `svcadmin --help` says of each group of commands. */
export const topics: Readonly<Record<string, { description: string }>> = {
  'audit-log': { description: 'what operators changed' },
  clients: { description: 'applications of partners' },
  deliveries: { description: 'events on their way to a URL' },
  enrollments: { description: 'users of a client' },
  events: { description: 'what happened, and whether partners know' },
  integrations: { description: 'storefronts' },
  jobs: { description: 'what is scheduled' },
  keys: { description: 'API keys of partners' },
  limits: { description: 'spend limits of partners' },
  operators: { description: 'who may use this tool' },
  partners: { description: 'companies that verify their users with us' },
  prices: { description: 'what billable events cost' },
  profiles: { description: 'servers that you signed in to' },
  sessions: { description: 'users on their way through verification' },
  wallets: { description: 'money of partners' },
  webhooks: { description: 'where events of an API key go' },
};
