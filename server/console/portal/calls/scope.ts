import type { MemberRole } from '../../../../contracts/admin/members.ts';

const kindOfField = {
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
} as const;
/** The kinds of records that an input can name. A warning or an audit entry can be named only by the field `after` of a list. */
export type OwnedKind = (typeof kindOfField)[keyof typeof kindOfField] | 'warning' | 'auditEntry';
/** The input fields that name a record, each with the kind of the record. A map, because callers choose the names. */
export const identifyingFields: ReadonlyMap<string, OwnedKind> = new Map(Object.entries(kindOfField));

/** Which members may call a procedure, and with what input. */
export interface ScopeRow {
  roles: readonly MemberRole[];
  /** The input fields that a member may set. `partnerId` is always the member's own partner. */
  fields: readonly string[];
  /** For a list: the kind of record that the field `after` names. It is the last record of the page before. */
  cursorKind?: OwnedKind;
  /** Whether `memberId` has to be the member's own. */
  isOnlySelf?: true;
  /**
   * Whether the passkey must have been used in the last 30 minutes: for every change that a stolen cookie could use to harm, to
   * silence or to redirect, and for events that are brought to a member's machine.
   */
  needsFreshPasskey: boolean;
  /** For a mutation that does not need it: why a stolen cookie does no harm with it. A test requires it. */
  harmless?: string;
}

const everyone: readonly MemberRole[] = ['owner', 'developer', 'finance', 'viewer'];
const technicalReaders: readonly MemberRole[] = ['owner', 'developer', 'viewer'];
const builders: readonly MemberRole[] = ['owner', 'developer'];
const moneyReaders: readonly MemberRole[] = ['owner', 'finance', 'viewer'];
const moneyEditors: readonly MemberRole[] = ['owner', 'finance'];
const owners: readonly MemberRole[] = ['owner'];

/** Makes the row of a procedure. @param fields the names of the input fields, with spaces between them */
const allow = (roles: readonly MemberRole[], fields: string, cursorKind?: OwnedKind): ScopeRow => ({
  roles,
  fields: fields.split(' '),
  needsFreshPasskey: false,
  ...(cursorKind ? { cursorKind } : {}),
});
const allowFresh: typeof allow = (...row) => ({ ...allow(...row), needsFreshPasskey: true });
const allowHarmless = (harmless: string, ...row: Parameters<typeof allow>): ScopeRow => ({
  ...allow(...row),
  harmless,
});
const onlySelf = (row: ScopeRow): ScopeRow => ({ ...row, isOnlySelf: true });
/** Makes the rows of a list and of its count. The list also has the fields of a page. @param kind the kind of the listed records */
const listAndCount = (topic: string, roles: readonly MemberRole[], filter: string, kind: OwnedKind) => ({
  [`${topic}.list`]: allow(roles, `${filter} limit after`, kind),
  [`${topic}.count`]: allow(roles, filter),
});

const clientSettings =
  'brandName brandColor purpose privacyUrl passkeys maxVerificationAgeSeconds openid defaultClaims idTokenAlg';

/**
 * The procedures of the admin API that members may call. A procedure without a row does not exist for them. Personal data of
 * users are masked, as for the operators' role ops.
 */
export const scope: Readonly<Record<string, ScopeRow>> = {
  'partners.show': allow(everyone, 'partnerId'),
  'partners.setLogo': allowFresh(builders, 'partnerId image'),
  'partners.removeLogo': allowFresh(builders, 'partnerId'),

  ...listAndCount('keys', everyone, 'partnerId mode status', 'apiKey'),
  'keys.show': allow(everyone, 'keyId'),
  'keys.create': allowFresh(builders, 'partnerId mode'),
  'keys.rotate': allowFresh(builders, 'keyId keepOldSeconds'),
  'keys.revoke': allowFresh(builders, 'keyId'),

  ...listAndCount('clients', everyone, 'partnerId keyId mode kind status', 'client'),
  'clients.show': allow(everyone, 'clientId'),
  'clients.create': allowFresh(builders, `partnerId keyId name kind redirectUris claims ${clientSettings}`),
  'clients.update': allowFresh(
    builders,
    `clientId keyId name redirectUris addRedirectUris removeRedirectUris claims ${clientSettings}`,
  ),
  'clients.rotateSecret': allowFresh(builders, 'clientId keepOldSeconds'),
  'clients.disable': allowFresh(builders, 'clientId'),
  'clients.enable': allowFresh(builders, 'clientId'),

  ...listAndCount('integrations', everyone, 'partnerId clientId mode status', 'integration'),
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
  'webhooks.pause': allowFresh(builders, 'keyId until'),
  'webhooks.resume': allowHarmless('waiting events go to the registered URL', builders, 'keyId'),
  'webhooks.setNotices': allowFresh(builders, 'keyId notices'),
  'webhooks.test': allowHarmless('a marked test event goes to the registered URL', builders, 'keyId'),
  'webhooks.trigger': allowHarmless('samples exist in test mode only', builders, 'keyId event'),
  'webhooks.verify': allow(builders, 'keyId body encoding signature computed'),
  'webhooks.relay': allowFresh(builders, 'keyId since after', 'delivery'),

  ...listAndCount(
    'events',
    technicalReaders,
    'partnerId keyId mode event sessionId enrollmentId sub since until',
    'event',
  ),
  'events.show': allow(technicalReaders, 'eventId'),
  ...listAndCount(
    'deliveries',
    technicalReaders,
    'partnerId keyId mode event since until status eventId',
    'delivery',
  ),
  'deliveries.show': allow(technicalReaders, 'deliveryId'),
  'deliveries.resend': allowHarmless(
    'receivers know a repeated event by its id, and resends are bounded',
    builders,
    'deliveryIds dryRun',
  ),
  'deliveries.cancel': allowFresh(builders, 'deliveryId'),
  // It can also postpone a delivery.
  'deliveries.reschedule': allowFresh(builders, 'deliveryId at inSeconds'),
  // A job can also cancel deliveries.
  'bulk.start': allowFresh(builders, 'action filter rate at inSeconds secondsBack again dryRun'),
  'bulk.show': allow(technicalReaders, 'bulkId'),
  'bulk.cancel': allowFresh(builders, 'bulkId'),

  ...listAndCount(
    'requests',
    technicalReaders,
    'partnerId clientId sessionId status path error since until',
    'request',
  ),
  'requests.show': allow(technicalReaders, 'requestId'),
  'requests.refused': allow(technicalReaders, 'partnerId since limit'),
  ...listAndCount(
    'sessions',
    technicalReaders,
    'partnerId clientId enrollmentId stateHash clientReferenceId mode status since until',
    'session',
  ),
  'sessions.show': allow(technicalReaders, 'sessionId'),
  ...listAndCount('enrollments', technicalReaders, 'partnerId sub status', 'enrollment'),
  'enrollments.show': allow(technicalReaders, 'enrollmentId'),

  'wallets.show': allow(moneyReaders, 'partnerId mode'),
  'wallets.statement': allow(moneyReaders, 'partnerId mode from to afterSeq untilSeq limit'),
  'wallets.usage': allow(moneyReaders, 'partnerId mode days'),
  'wallets.signedStatement': allow(moneyReaders, 'partnerId mode from to timezone'),
  'wallets.entry': allow(moneyReaders, 'entryId'),
  'wallets.refill': allowHarmless(
    'play money, up to a balance and ten times a day',
    ['owner', 'developer', 'finance'],
    'partnerId',
  ),
  'limits.show': allow(everyone, 'partnerId mode'),
  'limits.set': allowFresh(moneyEditors, 'partnerId mode perMinute perHour'),
  'prices.show': allow(moneyReaders, 'partnerId'),
  ...listAndCount('warnings', everyone, 'partnerId state', 'warning'),
  'warnings.settings': allow(everyone, 'partnerId'),
  'warnings.set': allowFresh([...builders, 'finance'], 'partnerId emails lowBalance'),

  ...listAndCount('members', owners, 'partnerId status', 'member'),
  'members.show': allow(owners, 'memberId'),
  'members.acts': allow(owners, 'partnerId limit after', 'auditEntry'),
  'members.wishes': onlySelf(allow(everyone, 'memberId')),
  'members.setWishes': onlySelf(allowFresh(everyone, 'memberId warnings')),
  'members.invite': allowFresh(owners, 'partnerId email role'),
  'members.confirmInvitation': allowFresh(owners, 'memberId'),
  'members.refuseInvitation': allowFresh(owners, 'memberId'),
  'members.setRole': allowFresh(owners, 'memberId role'),
  'members.remove': allowFresh(owners, 'memberId'),
};

export const isAllowed = (role: MemberRole, path: string): boolean =>
  scope[path]?.roles.includes(role) === true;
