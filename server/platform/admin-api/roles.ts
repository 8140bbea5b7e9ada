/** Support onboards and answers partners, ops keep the machinery running, owners may do everything. */
export type Role = 'support' | 'ops' | 'owner';

/** `test`: only where the input names the test mode. */
type Extent = 'any' | 'test';
type Row = Partial<Record<Exclude<Role, 'owner'>, Extent>>;

const everybody: Row = { support: 'any', ops: 'any' };
const support: Row = { support: 'any' };
const ops: Row = { ops: 'any' };
const ownersOnly: Row = {};

/** Which procedure needs what role; owners may call all of them. A test fails for a procedure without a row. */
export const permissions: Readonly<Record<string, Row>> = {
  'partners.list': everybody,
  'partners.show': everybody,
  'partners.judge': everybody,
  'partners.create': support,
  'partners.activate': support,
  'partners.suspend': support,
  'partners.setLogo': support,
  'partners.removeLogo': support,
  'keys.list': everybody,
  'keys.show': everybody,
  'keys.create': support,
  'keys.rotate': support,
  'keys.revoke': support,
  'clients.list': everybody,
  'clients.show': everybody,
  'clients.create': support,
  'clients.update': support,
  'clients.rotateSecret': support,
  'clients.disable': support,
  'clients.enable': support,
  'integrations.list': everybody,
  'integrations.show': everybody,
  'integrations.create': support,
  'integrations.rotateSecret': support,
  'integrations.disable': support,
  'webhooks.show': everybody,
  'webhooks.set': support,
  'webhooks.unset': support,
  'webhooks.rotateSecret': support,
  'webhooks.test': support,
  'webhooks.trigger': support,
  'webhooks.verify': everybody,
  'webhooks.relay': support,
  'wallets.show': everybody,
  'wallets.statement': everybody,
  'wallets.signedStatement': everybody,
  'wallets.entry': everybody,
  'wallets.fund': { support: 'test' },
  'wallets.adjust': ownersOnly,
  'wallets.refund': ownersOnly,
  'wallets.audit': ops,
  'wallets.repair': ownersOnly,
  'limits.show': everybody,
  'limits.set': ops,
  'prices.show': everybody,
  'prices.set': ownersOnly,
  'sources.list': everybody,
  'sources.check': everybody,
  'sessions.show': everybody,
  'enrollments.list': everybody,
  'enrollments.show': everybody,
  'enrollments.block': support,
  'enrollments.unblock': support,
  'users.show': support,
  'users.erase': ownersOnly,
  'events.list': everybody,
  'events.show': everybody,
  'events.why': everybody,
  'deliveries.list': everybody,
  'deliveries.show': everybody,
  'deliveries.resend': ops,
  'deliveries.cancel': ops,
  'deliveries.reschedule': ops,
  'jobs.list': ops,
  'jobs.show': ops,
  'jobs.run': ops,
  'jobs.cancel': ops,
  'jobs.reschedule': ops,
  'operators.whoami': everybody,
  'operators.list': ownersOnly,
  'operators.create': ownersOnly,
  'operators.revoke': ownersOnly,
  'auditLog.list': ops,
  'requests.show': everybody,
  status: everybody,
  // Pages of the admin listener, by their path.
  '/ops': ops,
  '/metrics': ops,
};

const isForTest = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'mode' in input && input.mode === 'test';

/** Whether an operator of this role may call the procedure with this input. Without a row, only owners may. */
export function mayCall(role: Role, path: string, input: unknown): boolean {
  if (role === 'owner') return true;
  const extent = permissions[path]?.[role];
  return extent === 'any' || (extent === 'test' && isForTest(input));
}
