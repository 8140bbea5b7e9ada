import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import type { AdminRouter } from '../../operations/admin-router.ts';
import type { MemberMail } from '../../partners/members/member-mail.ts';
import { isMemberId, memberName } from '../../partners/members/member-name.ts';
import type { Member } from '../../partners/members/member-store.ts';
import type { MembersStores } from '../../partners/members/store.ts';
import { type AdminContext, refusalOf } from '../../platform/admin-api/procedures.ts';
import type { Clock } from '../../platform/clock.ts';
import { type CallerKind, createCapacity } from '../../platform/http/limits/in-flight.ts';
import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { createBrowser } from './browser.ts';
import { createInputBinding, type FindForeign } from './calls/bind-input.ts';
import { actorName, createMemberCalls } from './calls/member-calls.ts';
import { createDeviceLogins } from './device/device-logins.ts';
import { createMemberSessions } from './member-sessions.ts';
import type { PortalParts } from './parts.ts';
import { createResponses } from './responses.ts';
import { portalRoutes } from './routes.ts';
import { createSignIn } from './sign-in.ts';
import { devicePages } from './views/account/devices.ts';
import { type ChangePasskeys, passkeyPages } from './views/account/passkeys.ts';
import { bulkPages } from './views/bulk.ts';
import { clientDocuments, clientPage } from './views/clients/client.ts';
import { clientPages } from './views/clients/clients.ts';
import { integrationPages } from './views/clients/integrations.ts';
import { keyPages } from './views/clients/keys.ts';
import { logoPages } from './views/clients/logo.ts';
import { deliveryPages } from './views/deliveries.ts';
import type { About, PreviewConsent } from './views/kit/page.ts';
import { logPages } from './views/log.ts';
import { memberPages } from './views/members.ts';
import { newsPages } from './views/news.ts';
import { overviewPages } from './views/overview.ts';
import { requestPages } from './views/requests.ts';
import { sessionPages } from './views/sessions.ts';
import { userPages } from './views/users.ts';
import { entryPages } from './views/wallet/entry.ts';
import { statementDocuments } from './views/wallet/statement.ts';
import { walletPages } from './views/wallet/wallet.ts';
import { warningPages } from './views/warnings.ts';
import { endpointPages } from './views/webhooks/endpoint.ts';
import { webhookPages } from './views/webhooks/webhooks.ts';

interface Dependencies {
  stores: MembersStores;
  clock: Pick<Clock, 'now'>;
  keyring: Pick<Keyring, 'id'>;
  router: AdminRouter;
  recordCall: NonNullable<AdminContext['recordCall']>;
  mailMember: MemberMail['toMember'];
  findForeign: FindForeign;
  /** @throws ApiError `not_found` */
  showPartner: (partnerId: string) => Promise<{ name: string; status: string }>;
  limit: RequestLimit;
  logger: Pick<Logger, 'warn'>;
  /** Called for each request that is refused because too many are in flight. */
  onShed: (kind: CallerKind) => void;
  previewConsent: PreviewConsent;
  about: About;
}

/** The pages, in the order of the navigation. */
export const pages = [
  ...overviewPages,
  ...warningPages,
  ...clientPages,
  ...clientPage,
  ...logoPages,
  ...integrationPages,
  ...keyPages,
  ...webhookPages,
  ...endpointPages,
  ...deliveryPages,
  ...bulkPages,
  ...requestPages,
  ...sessionPages,
  ...userPages,
  ...walletPages,
  ...entryPages,
  ...memberPages,
  ...logPages,
  ...newsPages,
];
export const documents = [...clientDocuments, ...statementDocuments];

/**
 * The most requests of the portal in flight. They have a limit of their own, so that they take no capacity from programs of
 * partners and from users. Requests of signed-in members are `authenticated`; sign-ins and all others are `unauthenticated`.
 */
const mostInFlight = { authenticated: 64, unauthenticated: 64, user: 0, returning_user: 0 };
/** The most of these for the members of one partner. */
const mostOfSharer = { authenticated: 16 };

/** Makes the functions that write the audit entries of actions that are not procedures of the admin API. */
function createActionNotes(
  recordCall: Dependencies['recordCall'],
): Pick<PortalParts, 'noteSignIn' | 'noteDevice'> {
  const note = (
    { _id: memberId, partnerId }: Member,
    { name: operatorName, action, input }: { name: string; action: string; input?: object },
    { id: requestId, ip: address }: FastifyRequest,
  ) =>
    recordCall(
      { operatorId: memberId, operatorName, action, requestId, address, partnerId },
      // `input` has another `memberId` if the member has ended a login of that member.
      { memberId, ...input },
      { outcome: 'done', repeated: false },
      { target: 'memberId', record: action === 'members.signIn' ? 'none' : 'several' },
    );
  return {
    noteSignIn: (member, request) =>
      note(member, { name: memberName(member.role), action: 'members.signIn' }, request),
    noteDevice: (action, signedIn, { request, ...input }) =>
      note(signedIn.member, { name: actorName(signedIn), action: `devices.${action}`, input }, request),
  };
}

/** Makes the function that records the changes of members to their own passkeys, and tells them by e-mail. */
const createPasskeyChange =
  ({ recordCall, mailMember, about }: Dependencies): ChangePasskeys =>
  async (member, actor, change) => {
    const record = (result: Parameters<typeof recordCall>[2]) =>
      recordCall(actor, { memberId: member._id }, result, { target: 'memberId', record: 'several' });
    try {
      await change();
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal) await record(refusal);
      throw error;
    }
    await record({ outcome: 'done', repeated: false });
    const what = actor.action === 'members.addPasskey' ? 'added to' : 'removed from';
    mailMember(member, {
      cause: `passkey ${actor.requestId}`,
      subject: `A passkey was ${what} your account`,
      text:
        `A passkey was ${what} your account of the partner portal, from the address ${actor.address}.\n` +
        `If it was not you, remove the passkeys that you do not know, and tell an owner of your company or support.\n` +
        `${about.baseUrl}/portal/passkeys\n`,
    });
  };

/** The portal of members, to be mounted at `/portal` of the public listener. */
export function createPortal(dependencies: Dependencies): FastifyPluginAsync {
  const {
    stores,
    router,
    clock,
    keyring,
    recordCall,
    findForeign,
    limit,
    previewConsent,
    about,
    showPartner,
  } = dependencies;
  const { baseUrl } = about;
  const browser = createBrowser(baseUrl);
  const sessions = createMemberSessions({
    stores,
    clock,
    isSuspended: async (partnerId) => (await showPartner(partnerId)).status === 'suspended',
  });
  const signIn = createSignIn({ stores, sessions, clock, idKey: keyring.id, baseUrl });
  const bindInput = createInputBinding(findForeign);
  const parts: PortalParts = {
    router,
    browser,
    calls: createMemberCalls({ sessions, browser, limit, recordCall, bindInput }),
    responses: createResponses(browser),
    sessions,
    signIn,
    logins: createDeviceLogins({ stores, clock, idKey: keyring.id, sessions }),
    limit,
    clock,
    about,
    previewConsent,
    partnerName: async (partnerId) => (await showPartner(partnerId)).name,
    // Members do not see the names of operators, and a removed member has no address.
    async inviterOf({ invitedBy }) {
      if (!isMemberId(invitedBy)) return 'support';
      return (await stores.members.find(invitedBy))?.email ?? invitedBy;
    },
    ...createActionNotes(recordCall),
  };
  const capacity = createCapacity({
    most: mostInFlight,
    mostOfSharer,
    onShed: dependencies.onShed,
    // The metric of requests in flight counts those of the public API only.
    onInFlight: () => undefined,
    logger: dependencies.logger,
  });
  const ownPages = [...devicePages(parts), ...passkeyPages(signIn, createPasskeyChange(dependencies))];
  return portalRoutes(parts, capacity, [...pages, ...ownPages], documents);
}
