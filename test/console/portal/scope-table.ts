/**
 * The procedures by the roles that may call them: owner, developer, finance, viewer. All other procedures do not exist for
 * members.
 */
const procedures: Record<string, string> = {
  odfv: `partners.show keys.list keys.count keys.show clients.list clients.count clients.show integrations.list
    integrations.count integrations.show webhooks.show webhooks.health limits.show warnings.list
    warnings.count warnings.settings members.wishes members.setWishes`,
  od: `partners.setLogo partners.removeLogo keys.create keys.rotate keys.revoke clients.create clients.update
    clients.rotateSecret clients.disable clients.enable integrations.create integrations.update
    integrations.rotateSecret integrations.disable webhooks.set webhooks.changeUrl webhooks.unset
    webhooks.prepareSecret webhooks.switchSecret webhooks.rotateSecret webhooks.pause webhooks.resume
    webhooks.setNotices webhooks.test webhooks.trigger webhooks.verify webhooks.relay deliveries.resend
    deliveries.cancel deliveries.reschedule bulk.start bulk.cancel`,
  odv: `events.list events.count events.show deliveries.list deliveries.count deliveries.show bulk.show
    requests.list requests.count requests.show requests.refused sessions.list sessions.count sessions.show
    enrollments.list enrollments.count enrollments.show`,
  ofv: 'wallets.show wallets.statement wallets.usage wallets.signedStatement wallets.entry prices.show',
  odf: 'wallets.refill warnings.set',
  of: 'limits.set',
  o: `members.list members.count members.show members.acts members.invite members.confirmInvitation
    members.refuseInvitation members.setRole members.remove`,
};
export const table: Record<string, string> = Object.fromEntries(
  Object.entries(procedures).flatMap(([may, names]) => names.split(/\s+/).map((name) => [name, may])),
);
export const roles = ['owner', 'developer', 'finance', 'viewer'] as const;
export const letters = { owner: 'o', developer: 'd', finance: 'f', viewer: 'v' };
