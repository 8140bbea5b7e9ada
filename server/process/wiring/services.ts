import { accountRoutes } from '../../api/account-routes.ts';
import { createBillableEndpoints } from '../../api/billable-endpoints.ts';
import { createEventList } from '../../api/events.ts';
import { authenticateKey } from '../../api/verify/hvf-session.ts';
import { createBillingFeature } from '../../billing/feature.ts';
import { tracedStores } from '../../billing/ledger/traced-ledger.ts';
import { createWalletsFeature } from '../../billing/wallets/feature.ts';
import { statusListTypes } from '../../identity-wallet/port.ts';
import type { Foundation } from '../../operations/foundation.ts';
import { createMetrics } from '../../operations/metrics/metrics.ts';
import { createUnpaidWallets } from '../../operations/overview/unpaid-wallets.ts';
import { createStatusFeature } from '../../operations/service-status/feature.ts';
import { createStores } from '../../operations/stores.ts';
import { createWarnings } from '../../operations/warnings/feature.ts';
import { createVerification } from '../../pages/feature.ts';
import { createPartnersFeature } from '../../partners/feature.ts';
import { customerHash } from '../../partners/integrations/customer-hash.ts';
import { createSecretUses } from '../../partners/keys/secret-uses.ts';
import { createMemberMail } from '../../partners/members/member-mail.ts';
import { createPersonAccesses } from '../../people/erasure/person-accesses.ts';
import { createCapacity } from '../../platform/http/limits/in-flight.ts';
import { createRequestLimit } from '../../platform/http/limits/request-limits.ts';
import { createScheduler } from '../../platform/jobs/scheduler.ts';
import { createLastUses } from '../../platform/keys/last-uses.ts';
import { createMailer } from '../../platform/mail.ts';
import { version } from '../../platform/version.ts';
import { createChargedCodes } from '../../sessions/charged-codes.ts';
import type { CodeOfSession } from '../../sessions/session-store.ts';
import { testIdentityWalletSettings } from '../../sessions/sources/identity-wallet/source.ts';
import { sandboxSource } from '../../sessions/sources/sandbox.ts';
import { createWebhookEndpoints, eventRecipient } from '../../webhooks/delivery/endpoint.ts';
import { checkWebhookUrl } from '../../webhooks/egress/destination.ts';
import { createPublicGet } from '../../webhooks/egress/public-get.ts';
import { createWebhooks } from '../../webhooks/webhooks.ts';
import { createOperators } from './operators.ts';
import { createUpwardCalls } from './upward-calls.ts';

/**
 * The most requests that a process has in flight, by kind of caller. A process answers about 256 requests in 200 ms.
 * `unauthenticated` may be more, because they need only one batched read to identify the caller. `returning_user` may be more,
 * because they may wait for their identity provider.
 */
const mostInFlight = { authenticated: 256, unauthenticated: 512, user: 256, returning_user: 512 };
/** The most of these for one partner, and for the users of one identity provider. */
const mostOfSharer = { authenticated: 192, returning_user: 256 };

/** Creates all features and connects them. This is the only place where features are joined. */
export function createServices(foundation: Foundation) {
  const { config, db, maintenance, clock, keyring, sealing, processes, logger } = foundation;
  const { ownPorts, pace, processMetrics, tracing, databaseFault, background } = foundation;
  const stores = { ...createStores(db, maintenance), ...foundation.stores };
  const limit = createRequestLimit({ db, clock, key: keyring.id });
  const publicGet = createPublicGet();
  const partnerNames = stores.partners.partners.names;
  const lastUses = createLastUses({ db, clock, logger, flushEvery: pace.usesEvery });
  const used = createSecretUses(lastUses);
  const worker = config.roles.has('worker');
  /** What most features need. Each takes what its own dependencies name. */
  const common = {
    ...{ clock, keyring, sealing, logger, limit, used, partnerNames, pace },
    ...{ baseUrl: config.baseUrl, worker, record: stores.admin.audit.add },
  };
  const send = config.smtp && createMailer({ ...config.smtp, baseUrl: config.baseUrl });
  const memberMail = createMemberMail({ ...common, stores: stores.members, send });
  const urlRules = { localhostAllowed: config.webhooks.localhost, ownPorts };

  const upward = createUpwardCalls();
  const scheduler = createScheduler({ db, background, logger, processEvery: pace.jobsEvery });
  const metrics = createMetrics(processMetrics, scheduler.tickAge, upward.certificates);

  const status = createStatusFeature({
    ...common,
    stores: stores.status,
    databaseFault,
    servesApi: config.roles.has('api'),
  });

  const partners = createPartnersFeature({
    ...common,
    stores: stores.partners,
    openWallets: upward.openWallets,
    findReplaced: stores.admin.audit.findReplacedSecrets,
    checkWebhookUrl: (url, mode) => checkWebhookUrl(url, mode, urlRules),
    onResumed: upward.resume,
    onSuspended: (partnerId) => stores.members.memberSessions.endDevices({ partnerId }),
    logoAddress: (id) => `${config.baseUrl}/verify/assets/logo/${id}.png`,
    onBrandDecided: memberMail.brandDecided,
    sources: [
      sandboxSource,
      ...testIdentityWalletSettings,
      ...config.oidcSources,
      ...config.identityWalletSources,
    ],
  });
  const { directory } = partners;

  const webhooks = createWebhooks({
    ...common,
    db,
    maintenance,
    idKey: keyring.id,
    scheduler,
    othersSend: () => processes.othersHaveRole('worker'),
    sending: metrics.sending,
    sent(outcome, mode) {
      metrics.sent(outcome);
      status.countAttempt(outcome, mode);
    },
    published: (count) => metrics.batch('events', count),
    endpoint: createWebhookEndpoints({
      apiKey: directory.apiKey,
      partner: directory.partner,
      sealing,
      used,
    }),
    recipient: (draft) => eventRecipient(draft, { ...directory, now: clock.now, worker }),
    retryDelays: config.webhooks.retryDelays,
    userAgent: `SVC-Gateway-Webhooks/${version}`,
    ...urlRules,
    ...foundation.webhooks,
    tracing,
  });

  const billingStores = tracedStores(stores.billing, tracing);
  const billing = createBillingFeature({
    ...common,
    stores: billingStores,
    idKey: keyring.id,
    publish: webhooks.publish,
    onWritten({ walletId, entries }) {
      metrics.batch('ledger_page', entries.length);
      upward.touch(walletId);
    },
    onConflict: metrics.pageConflict,
    standardPrice: config.priceCents,
    peers: config.peer && {
      processes,
      isWriter: config.roles.has('api'),
      onPosting: metrics.posting,
      onBatch: (size) => metrics.batch('hand_over', size),
      onPeers: metrics.peers,
    },
  });
  const { charges } = billing;
  const chargeOfCode = ({ codeHash, partnerId, mode }: CodeOfSession) =>
    charges.past({ partnerId, mode, cause: codeHash });

  const wallets = createWalletsFeature({
    ...common,
    stores: { ...billingStores, ...stores.wallets },
    billing,
    key: keyring.id,
    unpaidWallets: createUnpaidWallets(stores),
    standardPrice: config.priceCents,
    partners: partners.partners,
  });

  const personAccesses = createPersonAccesses({
    charges,
    billing,
    grantsOf: stores.billing.grants.ofPerson,
    eraseEvents: stores.webhooks.erasure.erase,
    forgetAddresses: stores.admin.requests.forgetAddresses,
  });
  const verification = createVerification({
    ...common,
    stores: stores.verification,
    onMethod: metrics.method,
    passkeyRpId: config.passkeyRpId,
    onPasskey: metrics.passkey,
    directory,
    publish: webhooks.publish,
    startsPerMinute: config.startsPerMinute,
    hasIntegration: partners.integrations.hasActive,
    oidcSources: config.oidcSources,
    identityWalletSources: config.identityWalletSources,
    fetchStatusList: (uri) => publicGet(uri, Object.values(statusListTypes)),
    claimLifetimes: config.claimLifetimes,
    imprint: config.imprint,
    customerHash: (customer) => customerHash(keyring.id, customer),
    findLogo: stores.partners.logos.find,
    chargeOf: chargeOfCode,
    chargedCodes: createChargedCodes({ charges, ledger: billingStores.ledger }),
    endAccesses: personAccesses.end,
    sharedOf: personAccesses.shared,
    eraseElsewhere: personAccesses.erase,
    moveEvents: stores.webhooks.erasure.moveExpiry,
  });

  upward.connect({
    openWallets: billing.openWallets,
    resume: webhooks.resume,
    touch: wallets.touch,
    certificates: verification.certificates,
  });

  const endpoints = createBillableEndpoints({
    ...common,
    sessions: stores.verification.sessions,
    charges,
    revokedAt: billingStores.revocations.revokedAt,
    partners,
    verification,
    issuer: config.baseUrl,
    deadline: pace,
  });

  const warnings = createWarnings({
    ...common,
    stores,
    config,
    send,
    publish: webhooks.publish,
    settings: partners.warningSettings,
  });

  const account = accountRoutes({
    authenticate: (authorization) => authenticateKey(authorization, directory),
    listEvents: createEventList({ events: stores.webhooks.events, clock }),
    readWallet: wallets.read,
    limit,
  });

  const operators = createOperators(foundation, {
    ...common,
    stores,
    metrics,
    partners,
    wallets,
    verification,
    warnings,
    webhooks,
    memberMail,
  });

  return {
    lastUses,
    processMetrics,
    tracing,
    capacity: createCapacity({
      most: mostInFlight,
      mostOfSharer,
      onShed: metrics.shed,
      onInFlight: metrics.inFlight,
      logger,
    }),
    ...endpoints,
    account: { routes: account },
    verification,
    admin: operators.admin,
    billing,
    wallets,
    partners,
    portalParts: operators.portalParts,
    status,
    webhooks,
    sweeps: [
      ...billing.sweeps,
      ...wallets.sweeps,
      operators.admin.upgrade.sweep,
      verification.sweep,
      verification.erasureSweep,
      webhooks.sweep,
      warnings.sweep,
      operators.admin.auditLog,
    ],
  };
}
export type Services = ReturnType<typeof createServices>;
