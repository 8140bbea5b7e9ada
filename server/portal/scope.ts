import type { MemberRole } from '../../contracts/admin/members.ts';

/** The kinds of records that an identifier in an input can name. */
export type OwnedKind =
  | 'partner'
  | 'apiKey'
  | 'client'
  | 'integration'
  | 'session'
  | 'enrollment'
  | 'event'
  | 'delivery'
  | 'bulkJob'
  | 'entry'
  | 'request'
  | 'member'
  | 'warning'
  | 'act';

/** The fields of inputs that name records. */
export const identifyingFields: Readonly<Record<string, OwnedKind>> = {
  partnerId: 'partner',
  keyId: 'apiKey',
  clientId: 'client',
  integrationId: 'integration',
  sessionId: 'session',
  enrollmentId: 'enrollment',
  eventId: 'event',
  deliveryId: 'delivery',
  deliveryIds: 'delivery',
  bulkId: 'bulkJob',
  entryId: 'entry',
  requestId: 'request',
  memberId: 'member',
};

/** The rule for calls of one procedure by members. */
export interface ScopeRow {
  roles: readonly MemberRole[];
  /** The input fields that a member may set. `partnerId` is always the member's own partner. */
  fields: readonly string[];
  /** The kind of record that the field `after` names. */
  after?: OwnedKind;
  /** Whether `memberId` has to be the member's own. */
  self?: true;
  /** Whether the member must have used the passkey lately: for changes of secrets, members, and addresses of data. */
  fresh: boolean;
}

const everyone: readonly MemberRole[] = ['owner', 'developer', 'finance', 'viewer'];
const technical: readonly MemberRole[] = ['owner', 'developer', 'viewer'];
const builders: readonly MemberRole[] = ['owner', 'developer'];
const money: readonly MemberRole[] = ['owner', 'finance'];
const moneyReaders: readonly MemberRole[] = ['owner', 'finance', 'viewer'];
const owners: readonly MemberRole[] = ['owner'];

const row = (roles: readonly MemberRole[], fields: string, after?: OwnedKind): ScopeRow => ({
  roles,
  fields: fields.split(' '),
  fresh: false,
  ...(after ? { after } : {}),
});
const fresh = (roles: readonly MemberRole[], fields: string, after?: OwnedKind): ScopeRow => ({
  ...row(roles, fields, after),
  fresh: true,
});

const self = (fields: string): ScopeRow => ({ ...row(everyone, fields), self: true });

const settings = 'brandName brandColor purpose privacyUrl passkeys maxVerificationAgeSeconds';

/**
 * The procedures of the admin API that members may call. A procedure without a row does not exist for them. Personal data of
 * users are masked, as for the operators' role ops.
 */
export const scope: Readonly<Record<string, ScopeRow>> = {
  'partners.show': row(everyone, 'partnerId'),
  'partners.setLogo': row(builders, 'partnerId image'),
  'partners.removeLogo': row(builders, 'partnerId'),

  'keys.list': row(everyone, 'partnerId mode status limit after', 'apiKey'),
  'keys.count': row(everyone, 'partnerId mode status'),
  'keys.show': row(everyone, 'keyId'),
  'keys.create': fresh(builders, 'partnerId mode'),
  'keys.rotate': fresh(builders, 'keyId keepOldSeconds'),
  'keys.revoke': fresh(builders, 'keyId'),

  'clients.list': row(everyone, 'partnerId keyId mode kind status limit after', 'client'),
  'clients.count': row(everyone, 'partnerId keyId mode kind status'),
  'clients.show': row(everyone, 'clientId'),
  'clients.create': fresh(builders, `partnerId keyId name kind redirectUris claims ${settings}`),
  'clients.update': fresh(
    builders,
    `clientId keyId name redirectUris addRedirectUris removeRedirectUris claims ${settings}`,
  ),
  'clients.rotateSecret': fresh(builders, 'clientId keepOldSeconds'),
  'clients.disable': fresh(builders, 'clientId'),
  'clients.enable': fresh(builders, 'clientId'),

  'integrations.list': row(everyone, 'partnerId clientId mode status limit after', 'integration'),
  'integrations.count': row(everyone, 'partnerId clientId mode status'),
  'integrations.show': row(everyone, 'integrationId'),
  'integrations.create': fresh(builders, 'partnerId clientId shops'),
  'integrations.update': fresh(builders, 'integrationId addShops removeShops'),
  'integrations.rotateSecret': fresh(builders, 'integrationId keepOldSeconds'),
  'integrations.disable': fresh(builders, 'integrationId'),

  'webhooks.show': row(everyone, 'keyId'),
  'webhooks.health': row(everyone, 'partnerId keyId mode limit'),
  'webhooks.set': fresh(builders, 'keyId url'),
  'webhooks.changeUrl': fresh(builders, 'keyId url'),
  'webhooks.unset': fresh(builders, 'keyId'),
  'webhooks.prepareSecret': fresh(builders, 'keyId'),
  'webhooks.switchSecret': fresh(builders, 'keyId last4'),
  'webhooks.rotateSecret': fresh(builders, 'keyId'),
  'webhooks.pause': row(builders, 'keyId until'),
  'webhooks.resume': row(builders, 'keyId'),
  'webhooks.setNotices': row(builders, 'keyId notices'),
  'webhooks.test': row(builders, 'keyId'),
  'webhooks.trigger': row(builders, 'keyId event'),
  'webhooks.verify': row(builders, 'keyId body signature computed'),
  'webhooks.relay': fresh(builders, 'keyId since after', 'delivery'),

  'events.list': row(
    technical,
    'partnerId keyId mode event sessionId enrollmentId sub since until limit after',
    'event',
  ),
  'events.count': row(technical, 'partnerId keyId mode event sessionId enrollmentId sub since until'),
  'events.show': row(technical, 'eventId'),
  'deliveries.list': row(
    technical,
    'partnerId keyId mode event since until status eventId limit after',
    'delivery',
  ),
  'deliveries.count': row(technical, 'partnerId keyId mode event since until status eventId'),
  'deliveries.show': row(technical, 'deliveryId'),
  'deliveries.resend': row(builders, 'deliveryIds dryRun'),
  'deliveries.cancel': row(builders, 'deliveryId'),
  'deliveries.reschedule': row(builders, 'deliveryId at inSeconds'),
  'bulk.start': row(builders, 'action filter rate at again dryRun'),
  'bulk.show': row(technical, 'bulkId'),
  'bulk.cancel': row(builders, 'bulkId'),

  'requests.list': row(
    technical,
    'partnerId clientId sessionId status path error since until limit after',
    'request',
  ),
  'requests.count': row(technical, 'partnerId clientId sessionId status path error since until'),
  'requests.show': row(technical, 'requestId'),
  'requests.refused': row(technical, 'partnerId since limit'),
  'sessions.list': row(
    technical,
    'partnerId clientId enrollmentId stateHash clientReferenceId mode status since until limit after',
    'session',
  ),
  'sessions.count': row(
    technical,
    'partnerId clientId enrollmentId stateHash clientReferenceId mode status since until',
  ),
  'sessions.show': row(technical, 'sessionId'),
  'enrollments.list': row(technical, 'partnerId sub limit after', 'enrollment'),
  'enrollments.count': row(technical, 'partnerId sub'),
  'enrollments.show': row(technical, 'enrollmentId'),

  'wallets.show': row(moneyReaders, 'partnerId mode'),
  'wallets.statement': row(moneyReaders, 'partnerId mode from to afterSeq untilSeq limit'),
  'wallets.signedStatement': row(moneyReaders, 'partnerId mode from to'),
  'wallets.entry': row(moneyReaders, 'entryId'),
  'limits.show': row(everyone, 'partnerId mode'),
  'limits.set': fresh(money, 'partnerId mode perMinute perHour'),
  'prices.show': row(moneyReaders, 'partnerId'),
  'warnings.list': row(everyone, 'partnerId state limit after', 'warning'),
  'warnings.count': row(everyone, 'partnerId state'),
  'warnings.settings': row(everyone, 'partnerId'),
  'warnings.set': row([...builders, 'finance'], 'partnerId emails lowBalance'),

  'members.list': row(owners, 'partnerId status limit after', 'member'),
  'members.count': row(owners, 'partnerId status'),
  'members.show': row(owners, 'memberId'),
  'members.acts': row(owners, 'partnerId limit after', 'act'),
  'members.wishes': self('memberId'),
  'members.setWishes': self('memberId warnings'),
  'members.invite': fresh(owners, 'partnerId email role'),
  'members.setRole': fresh(owners, 'memberId role'),
  'members.remove': fresh(owners, 'memberId'),
};

/** Whether the role may call the procedure. */
export const isAllowed = (role: MemberRole, path: string): boolean =>
  scope[path]?.roles.includes(role) === true;
