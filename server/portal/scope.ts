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
  | 'auditEntry';

/** The input fields that name a record, each with the kind of the record. */
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

/** Which members may call a procedure, and with what input. */
export interface ScopeRow {
  roles: readonly MemberRole[];
  /** The input fields that a member may set. `partnerId` is always the member's own partner. */
  fields: readonly string[];
  /** For a list: the kind of record that the field `after` names. It is the last record of the page before. */
  cursorKind?: OwnedKind;
  /** Whether `memberId` has to be the member's own. */
  isOnlySelf?: true;
  /** Whether the passkey must have been used lately: for changes of secrets, members, and addresses of data. */
  needsFreshPasskey: boolean;
}

const everyone: readonly MemberRole[] = ['owner', 'developer', 'finance', 'viewer'];
const technicalReaders: readonly MemberRole[] = ['owner', 'developer', 'viewer'];
const builders: readonly MemberRole[] = ['owner', 'developer'];
const moneyReaders: readonly MemberRole[] = ['owner', 'finance', 'viewer'];
const moneyEditors: readonly MemberRole[] = ['owner', 'finance'];
const owners: readonly MemberRole[] = ['owner'];

/** @param fields the names of the input fields, with spaces between them */
const allow = (roles: readonly MemberRole[], fields: string, cursorKind?: OwnedKind): ScopeRow => ({
  roles,
  fields: fields.split(' '),
  needsFreshPasskey: false,
  ...(cursorKind ? { cursorKind } : {}),
});
const allowFresh = (roles: readonly MemberRole[], fields: string, cursorKind?: OwnedKind): ScopeRow => ({
  ...allow(roles, fields, cursorKind),
  needsFreshPasskey: true,
});
const allowSelf = (fields: string): ScopeRow => ({ ...allow(everyone, fields), isOnlySelf: true });

const settings = 'brandName brandColor purpose privacyUrl passkeys maxVerificationAgeSeconds';

/**
 * The procedures of the admin API that members may call. A procedure without a row does not exist for them. Personal data of
 * users are masked, as for the operators' role ops.
 */
export const scope: Readonly<Record<string, ScopeRow>> = {
  'partners.show': allow(everyone, 'partnerId'),
  'partners.setLogo': allow(builders, 'partnerId image'),
  'partners.removeLogo': allow(builders, 'partnerId'),

  'keys.list': allow(everyone, 'partnerId mode status limit after', 'apiKey'),
  'keys.count': allow(everyone, 'partnerId mode status'),
  'keys.show': allow(everyone, 'keyId'),
  'keys.create': allowFresh(builders, 'partnerId mode'),
  'keys.rotate': allowFresh(builders, 'keyId keepOldSeconds'),
  'keys.revoke': allowFresh(builders, 'keyId'),

  'clients.list': allow(everyone, 'partnerId keyId mode kind status limit after', 'client'),
  'clients.count': allow(everyone, 'partnerId keyId mode kind status'),
  'clients.show': allow(everyone, 'clientId'),
  'clients.create': allowFresh(builders, `partnerId keyId name kind redirectUris claims ${settings}`),
  'clients.update': allowFresh(
    builders,
    `clientId keyId name redirectUris addRedirectUris removeRedirectUris claims ${settings}`,
  ),
  'clients.rotateSecret': allowFresh(builders, 'clientId keepOldSeconds'),
  'clients.disable': allowFresh(builders, 'clientId'),
  'clients.enable': allowFresh(builders, 'clientId'),

  'integrations.list': allow(everyone, 'partnerId clientId mode status limit after', 'integration'),
  'integrations.count': allow(everyone, 'partnerId clientId mode status'),
  'integrations.show': allow(everyone, 'integrationId'),
  'integrations.create': allowFresh(builders, 'partnerId clientId shops'),
  'integrations.update': allowFresh(builders, 'integrationId addShops removeShops'),
  'integrations.rotateSecret': allowFresh(builders, 'integrationId keepOldSeconds'),
  'integrations.disable': allowFresh(builders, 'integrationId'),

  'webhooks.show': allow(everyone, 'keyId'),
  'webhooks.health': allow(everyone, 'partnerId keyId mode limit'),
  'webhooks.set': allowFresh(builders, 'keyId url'),
  'webhooks.changeUrl': allowFresh(builders, 'keyId url'),
  'webhooks.unset': allowFresh(builders, 'keyId'),
  'webhooks.prepareSecret': allowFresh(builders, 'keyId'),
  'webhooks.switchSecret': allowFresh(builders, 'keyId last4'),
  'webhooks.rotateSecret': allowFresh(builders, 'keyId'),
  'webhooks.pause': allow(builders, 'keyId until'),
  'webhooks.resume': allow(builders, 'keyId'),
  'webhooks.setNotices': allow(builders, 'keyId notices'),
  'webhooks.test': allow(builders, 'keyId'),
  'webhooks.trigger': allow(builders, 'keyId event'),
  'webhooks.verify': allow(builders, 'keyId body signature computed'),
  'webhooks.relay': allowFresh(builders, 'keyId since after', 'delivery'),

  'events.list': allow(
    technicalReaders,
    'partnerId keyId mode event sessionId enrollmentId sub since until limit after',
    'event',
  ),
  'events.count': allow(
    technicalReaders,
    'partnerId keyId mode event sessionId enrollmentId sub since until',
  ),
  'events.show': allow(technicalReaders, 'eventId'),
  'deliveries.list': allow(
    technicalReaders,
    'partnerId keyId mode event since until status eventId limit after',
    'delivery',
  ),
  'deliveries.count': allow(technicalReaders, 'partnerId keyId mode event since until status eventId'),
  'deliveries.show': allow(technicalReaders, 'deliveryId'),
  'deliveries.resend': allow(builders, 'deliveryIds dryRun'),
  'deliveries.cancel': allow(builders, 'deliveryId'),
  'deliveries.reschedule': allow(builders, 'deliveryId at inSeconds'),
  'bulk.start': allow(builders, 'action filter rate at again dryRun'),
  'bulk.show': allow(technicalReaders, 'bulkId'),
  'bulk.cancel': allow(builders, 'bulkId'),

  'requests.list': allow(
    technicalReaders,
    'partnerId clientId sessionId status path error since until limit after',
    'request',
  ),
  'requests.count': allow(technicalReaders, 'partnerId clientId sessionId status path error since until'),
  'requests.show': allow(technicalReaders, 'requestId'),
  'requests.refused': allow(technicalReaders, 'partnerId since limit'),
  'sessions.list': allow(
    technicalReaders,
    'partnerId clientId enrollmentId stateHash clientReferenceId mode status since until limit after',
    'session',
  ),
  'sessions.count': allow(
    technicalReaders,
    'partnerId clientId enrollmentId stateHash clientReferenceId mode status since until',
  ),
  'sessions.show': allow(technicalReaders, 'sessionId'),
  'enrollments.list': allow(technicalReaders, 'partnerId sub limit after', 'enrollment'),
  'enrollments.count': allow(technicalReaders, 'partnerId sub'),
  'enrollments.show': allow(technicalReaders, 'enrollmentId'),

  'wallets.show': allow(moneyReaders, 'partnerId mode'),
  'wallets.statement': allow(moneyReaders, 'partnerId mode from to afterSeq untilSeq limit'),
  'wallets.signedStatement': allow(moneyReaders, 'partnerId mode from to'),
  'wallets.entry': allow(moneyReaders, 'entryId'),
  'limits.show': allow(everyone, 'partnerId mode'),
  'limits.set': allowFresh(moneyEditors, 'partnerId mode perMinute perHour'),
  'prices.show': allow(moneyReaders, 'partnerId'),
  'warnings.list': allow(everyone, 'partnerId state limit after', 'warning'),
  'warnings.count': allow(everyone, 'partnerId state'),
  'warnings.settings': allow(everyone, 'partnerId'),
  'warnings.set': allow([...builders, 'finance'], 'partnerId emails lowBalance'),

  'members.list': allow(owners, 'partnerId status limit after', 'member'),
  'members.count': allow(owners, 'partnerId status'),
  'members.show': allow(owners, 'memberId'),
  'members.acts': allow(owners, 'partnerId limit after', 'auditEntry'),
  'members.wishes': allowSelf('memberId'),
  'members.setWishes': allowSelf('memberId warnings'),
  'members.invite': allowFresh(owners, 'partnerId email role'),
  'members.setRole': allowFresh(owners, 'memberId role'),
  'members.remove': allowFresh(owners, 'memberId'),
};

/** Whether the role may call the procedure. */
export const isAllowed = (role: MemberRole, path: string): boolean =>
  scope[path]?.roles.includes(role) === true;
