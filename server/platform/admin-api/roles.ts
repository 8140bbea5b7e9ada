/** `support` onboards and helps partners, `ops` runs the service, `owner` may do everything. */
export type Role = 'support' | 'ops' | 'owner';

/**
 * `test`: only in test mode, as the input names it. `reason`: only with a reason in the input, which the audit log keeps. `own`: the operator's own entries, and everyone's changes of
 * partners' records; the procedure itself applies this scope.
 */
type Scope = 'any' | 'test' | 'own' | 'reason';
type Permission = Partial<Record<Exclude<Role, 'owner'>, Scope>>;

const everyRole: Permission = { support: 'any', ops: 'any' };
const support: Permission = { support: 'any' };
const ops: Permission = { ops: 'any' };
const ownersOnly: Permission = {};
/** The rows of the procedures that list, count and show the records of a topic. */
const records = (topic: string, who: Permission): Record<string, Permission> => ({
  [`${topic}.list`]: who,
  [`${topic}.count`]: who,
  [`${topic}.show`]: who,
});

/** The roles that may call each procedure, besides owners. A test fails for a procedure without a row. */
export const permissions: Readonly<Record<string, Permission>> = {
  ...records('partners', everyRole),
  'partners.search': everyRole,
  'partners.check': everyRole,
  'partners.create': support,
  'partners.activate': { support: 'any', ops: 'reason' },
  'partners.suspend': support,
  'partners.close': support,
  'partners.update': support,
  'partners.setLogo': support,
  'partners.removeLogo': support,
  'brands.list': everyRole,
  'brands.show': everyRole,
  'brands.approve': support,
  'brands.refuse': support,
  ...records('keys', everyRole),
  'keys.create': support,
  'keys.rotate': support,
  'keys.revoke': support,
  ...records('clients', everyRole),
  'clients.create': support,
  'clients.update': support,
  'clients.rotateSecret': support,
  'clients.disable': { support: 'any', ops: 'reason' },
  'clients.enable': support,
  ...records('integrations', everyRole),
  'integrations.create': support,
  'integrations.update': support,
  'integrations.rotateSecret': support,
  'integrations.disable': support,
  'webhooks.show': everyRole,
  'webhooks.set': support,
  'webhooks.changeUrl': support,
  'webhooks.unset': support,
  'webhooks.health': everyRole,
  'webhooks.pause': everyRole,
  'webhooks.resume': everyRole,
  'webhooks.rotateSecret': support,
  'webhooks.prepareSecret': support,
  'webhooks.switchSecret': support,
  'webhooks.setNotices': support,
  'webhooks.test': support,
  'webhooks.trigger': support,
  'webhooks.verify': everyRole,
  'webhooks.relay': support,
  'warnings.list': everyRole,
  'warnings.count': everyRole,
  'warnings.settings': support,
  'warnings.set': support,
  ...records('wallets', everyRole),
  'wallets.statement': everyRole,
  'wallets.usage': everyRole,
  'wallets.signedStatement': everyRole,
  'wallets.entry': everyRole,
  'wallets.fund': { support: 'test' },
  'wallets.refill': support,
  'wallets.adjust': ownersOnly,
  'wallets.refund': ownersOnly,
  'wallets.audit': ops,
  'wallets.repair': ownersOnly,
  'limits.show': everyRole,
  'limits.set': ops,
  'prices.show': everyRole,
  'prices.set': ownersOnly,
  'revenue.show': everyRole,
  'sources.list': everyRole,
  'sources.check': everyRole,
  ...records('sessions', everyRole),
  ...records('enrollments', everyRole),
  'enrollments.block': support,
  'enrollments.unblock': support,
  'users.show': support,
  'users.find': support,
  'users.removePasskey': support,
  'users.erase': ownersOnly,
  'users.hold': ownersOnly,
  'users.holds': support,
  'users.release': ownersOnly,
  ...records('events', everyRole),
  'events.why': everyRole,
  ...records('deliveries', everyRole),
  'deliveries.schedule': everyRole,
  'deliveries.resend': everyRole,
  'deliveries.cancel': everyRole,
  'deliveries.reschedule': everyRole,
  'bulk.start': everyRole,
  'bulk.list': everyRole,
  'bulk.show': everyRole,
  'bulk.cancel': everyRole,
  ...records('jobs', ops),
  'jobs.run': ops,
  'jobs.cancel': ops,
  'jobs.reschedule': ops,
  ...records('members', everyRole),
  'members.acts': support,
  'members.invite': support,
  // The procedures refuse operators: an owner of the partner decides.
  'members.confirmInvitation': ownersOnly,
  'members.refuseInvitation': ownersOnly,
  'members.setRole': support,
  'members.wishes': support,
  'members.setWishes': support,
  'members.remove': support,
  'operators.whoami': everyRole,
  'operators.roles': everyRole,
  'operators.show': everyRole,
  'operators.list': ownersOnly,
  'operators.count': ownersOnly,
  'operators.create': ownersOnly,
  'operators.revoke': ownersOnly,
  'keyring.list': ops,
  'keyring.rotate': ownersOnly,
  'keyring.retire': ownersOnly,
  'keyring.reseal': ownersOnly,
  'schema.show': ops,
  'schema.shards': everyRole,
  'schema.finish': ownersOnly,
  'auditLog.list': { support: 'own', ops: 'any' },
  'auditLog.count': { support: 'own', ops: 'any' },
  'secrets.find': everyRole,
  ...records('requests', everyRole),
  'requests.refused': everyRole,
  status: everyRole,
  // Pages of the admin listener, by their path.
  '/ops': ops,
  '/metrics': ops,
};

const isForTest = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'mode' in input && input.mode === 'test';

const hasReason = (input: unknown): boolean =>
  typeof input === 'object' && input !== null && 'reason' in input && typeof input.reason === 'string';

/** The scope in which a role may call a procedure; undefined if it may not. Without a row, only owners may. */
export function scopeOf(role: Role, path: string): Scope | undefined {
  return role === 'owner' ? 'any' : permissions[path]?.[role];
}

/** Whether an operator of this role may call the procedure with this input. */
export function mayCall(role: Role, path: string, input: unknown): boolean {
  const scope = scopeOf(role, path);
  if (scope === 'reason') return hasReason(input);
  return scope === 'test' ? isForTest(input) : scope !== undefined;
}

/** The roles that may call a procedure without limits, in words: `ops or an owner`. */
export function whoMay(path: string): string {
  const roles = (['support', 'ops'] as const).filter((role) => scopeOf(role, path) === 'any');
  return [...roles, 'an owner'].join(' or ');
}

/** Recommends a command to an operator. If the operator's role does not allow it, says whom to ask. */
export function adviseCommand(role: Role, path: string, command: string): string {
  return scopeOf(role, path) === 'any' ? command : `ask ${whoMay(path)} for: ${command}`;
}

/** Why a call was refused, and who may make it. */
export function describeRefusal(role: Role, path: string): string {
  const scope = scopeOf(role, path);
  if (scope === 'reason') return `The role ${role} allows ${path} with a reason only: add --reason TEXT`;
  const rule = scope === 'test' ? `allows ${path} in test mode only` : `does not allow ${path}`;
  return `The role ${role} ${rule}; ${whoMay(path)} may do it`;
}
