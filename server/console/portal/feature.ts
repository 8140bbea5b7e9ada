import type { FastifyPluginAsync } from 'fastify';
import { isMemberId } from '../../partners/members/member-name.ts';
import { refusalOf } from '../../platform/admin-api/procedures.ts';
import { createCapacity } from '../../platform/http/limits/in-flight.ts';
import { createBrowser } from './browser.ts';
import { actorOf, createMemberCalls } from './calls/member-calls.ts';
import type { PortalDependencies } from './dependencies.ts';
import { createDeviceLogins } from './device/device-logins.ts';
import { createMemberSessions } from './member-sessions.ts';
import type { PortalParts } from './parts.ts';
import { createResponses } from './responses.ts';
import { portalRoutes } from './routes.ts';
import { createSignIn } from './sign-in.ts';
import { devicePages } from './views/account/devices.ts';
import { passkeyPages } from './views/account/passkeys.ts';
import { bulkPages } from './views/bulk.ts';
import { clientDocuments, clientPage } from './views/clients/client.ts';
import { clientPages } from './views/clients/clients.ts';
import { integrationPages } from './views/clients/integrations.ts';
import { keyPages } from './views/clients/keys.ts';
import { logoPages } from './views/clients/logo.ts';
import { deliveryPages } from './views/deliveries.ts';
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
function createActionNotes({
  recordCall,
  mailMember,
  about,
}: PortalDependencies): Pick<PortalParts, 'noteSignIn' | 'noteDevice' | 'changePasskeys'> {
  const done = { outcome: 'done', repeated: false } as const;
  const recorded = { target: 'memberId', record: 'several' } as const;
  return {
    noteSignIn: (member, request) =>
      recordCall(actorOf({ member }, request, 'members.signIn'), { memberId: member._id }, done, {
        ...recorded,
        record: 'none',
      }),

    noteDevice: (action, signedIn, { request, memberId = signedIn.member._id, name }) =>
      recordCall(actorOf(signedIn, request, `devices.${action}`), { memberId, name }, done, recorded),

    async changePasskeys({ signedIn, request }, what, change) {
      const { member } = signedIn;
      const actor = actorOf(signedIn, request, `members.${what === 'added' ? 'add' : 'remove'}Passkey`);
      const input = { memberId: member._id };
      try {
        await change(actor);
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal) await recordCall(actor, input, refusal, recorded);
        throw error;
      }
      await recordCall(actor, input, done, recorded);
      const changed = `A passkey was ${what} ${what === 'added' ? 'to' : 'from'} your account`;
      mailMember(member, {
        cause: `passkey ${actor.requestId}`,
        subject: changed,
        text:
          `${changed} of the partner portal, from the address ${actor.address}.\n` +
          `If it was not you, remove the passkeys that you do not know, and tell an owner of your company or support.\n` +
          `${about.baseUrl}/portal/passkeys\n`,
      });
    },
  };
}

/** The portal of members, to be mounted at `/portal` of the public listener. */
export function createPortal(dependencies: PortalDependencies): FastifyPluginAsync {
  const { stores, showPartner, about } = dependencies;
  const browser = createBrowser(about.baseUrl);
  const sessions = createMemberSessions(dependencies);
  const parts: PortalParts = {
    ...dependencies,
    browser,
    calls: createMemberCalls(dependencies, sessions, browser),
    responses: createResponses(browser),
    sessions,
    signIn: createSignIn(dependencies, sessions),
    logins: createDeviceLogins(dependencies, sessions),
    partnerName: async (partnerId) => (await showPartner(partnerId)).name,
    // Members do not see the names of operators, and a removed member has no address.
    async inviterOf({ invitedBy }) {
      if (!isMemberId(invitedBy)) return 'support';
      return (await stores.members.find(invitedBy))?.email ?? invitedBy;
    },
    ...createActionNotes(dependencies),
  };
  const capacity = createCapacity({
    most: mostInFlight,
    mostOfSharer,
    onShed: dependencies.onShed,
    // The metric of requests in flight counts those of the public API only.
    onInFlight: () => undefined,
    logger: dependencies.logger,
  });
  const allPages = [...pages, ...devicePages(parts), ...passkeyPages(parts)];
  return portalRoutes(parts, capacity, allPages, documents);
}
