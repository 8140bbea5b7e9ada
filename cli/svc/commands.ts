import type { Command } from '@oclif/core';
import AutocompleteFish from '../commands/autocomplete/fish.ts';
import BulkCancel from '../commands/bulk/cancel.ts';
import BulkShow from '../commands/bulk/show.ts';
import ClientsCreate from '../commands/clients/create.ts';
import ClientsDisable from '../commands/clients/disable.ts';
import ClientsEnable from '../commands/clients/enable.ts';
import ClientsList from '../commands/clients/list.ts';
import ClientsRotateSecret from '../commands/clients/rotate-secret.ts';
import ClientsShow from '../commands/clients/show.ts';
import ClientsUpdate from '../commands/clients/update.ts';
import DeliveriesCancel from '../commands/deliveries/cancel.ts';
import DeliveriesList from '../commands/deliveries/list.ts';
import DeliveriesReschedule from '../commands/deliveries/reschedule.ts';
import DeliveriesResend from '../commands/deliveries/resend.ts';
import DeliveriesShow from '../commands/deliveries/show.ts';
import EnrollmentsList from '../commands/enrollments/list.ts';
import EnrollmentsShow from '../commands/enrollments/show.ts';
import ErrorCommand from '../commands/error.ts';
import EventsList from '../commands/events/list.ts';
import EventsShow from '../commands/events/show.ts';
import IntegrationsCreate from '../commands/integrations/create.ts';
import IntegrationsDisable from '../commands/integrations/disable.ts';
import IntegrationsList from '../commands/integrations/list.ts';
import IntegrationsRotateSecret from '../commands/integrations/rotate-secret.ts';
import IntegrationsShow from '../commands/integrations/show.ts';
import IntegrationsUpdate from '../commands/integrations/update.ts';
import KeysCreate from '../commands/keys/create.ts';
import KeysList from '../commands/keys/list.ts';
import KeysRevoke from '../commands/keys/revoke.ts';
import KeysRotate from '../commands/keys/rotate.ts';
import KeysShow from '../commands/keys/show.ts';
import LimitsSet from '../commands/limits/set.ts';
import LimitsShow from '../commands/limits/show.ts';
import MembersInvite from '../commands/members/invite.ts';
import MembersList from '../commands/members/list.ts';
import MembersRemove from '../commands/members/remove.ts';
import MembersRole from '../commands/members/role.ts';
import PartnersRemoveLogo from '../commands/partners/remove-logo.ts';
import PartnersSetLogo from '../commands/partners/set-logo.ts';
import PricesShow from '../commands/prices/show.ts';
import ProfilesList from '../commands/profiles/list.ts';
import ProfilesUse from '../commands/profiles/use.ts';
import RequestsShow from '../commands/request.ts';
import RequestsList from '../commands/requests/list.ts';
import RequestsRefused from '../commands/requests/refused.ts';
import SessionsList from '../commands/sessions/list.ts';
import SessionsShow from '../commands/sessions/show.ts';
import Version from '../commands/version.ts';
import WalletsEntry from '../commands/wallets/entry.ts';
import WalletsShow from '../commands/wallets/show.ts';
import WalletsStatement from '../commands/wallets/statement.ts';
import WalletsVerify from '../commands/wallets/verify.ts';
import WarningsList from '../commands/warnings/list.ts';
import WarningsSet from '../commands/warnings/set.ts';
import WarningsShow from '../commands/warnings/show.ts';
import WebhooksHealth from '../commands/webhooks/health.ts';
import WebhooksNotices from '../commands/webhooks/notices.ts';
import WebhooksPause from '../commands/webhooks/pause.ts';
import WebhooksPrepareSecret from '../commands/webhooks/prepare-secret.ts';
import WebhooksReplay from '../commands/webhooks/replay.ts';
import WebhooksResume from '../commands/webhooks/resume.ts';
import WebhooksRotateSecret from '../commands/webhooks/rotate-secret.ts';
import WebhooksSet from '../commands/webhooks/set.ts';
import WebhooksShow from '../commands/webhooks/show.ts';
import WebhooksSwitchSecret from '../commands/webhooks/switch-secret.ts';
import WebhooksTest from '../commands/webhooks/test.ts';
import WebhooksUnset from '../commands/webhooks/unset.ts';
import WebhooksVerify from '../commands/webhooks/verify.ts';
import Listen from './commands/listen.ts';
import Login from './commands/login.ts';
import Logout from './commands/logout.ts';
import Trigger from './commands/trigger.ts';
import Whoami from './commands/whoami.ts';
import { makeMemberCommand } from './for-partner.ts';

/** Commands of `svcadmin` that members have too, with the same words. */
const shared: Readonly<Record<string, Command.Class>> = {
  'autocomplete fish': AutocompleteFish,
  'bulk cancel': BulkCancel,
  'bulk show': BulkShow,
  'clients create': ClientsCreate,
  'clients disable': ClientsDisable,
  'clients enable': ClientsEnable,
  'clients list': ClientsList,
  'clients rotate-secret': ClientsRotateSecret,
  'clients show': ClientsShow,
  'clients update': ClientsUpdate,
  'deliveries cancel': DeliveriesCancel,
  'deliveries list': DeliveriesList,
  'deliveries resend': DeliveriesResend,
  'deliveries reschedule': DeliveriesReschedule,
  'deliveries show': DeliveriesShow,
  'enrollments list': EnrollmentsList,
  'enrollments show': EnrollmentsShow,
  error: ErrorCommand,
  'events list': EventsList,
  'events show': EventsShow,
  'integrations create': IntegrationsCreate,
  'integrations disable': IntegrationsDisable,
  'integrations list': IntegrationsList,
  'integrations rotate-secret': IntegrationsRotateSecret,
  'integrations show': IntegrationsShow,
  'integrations update': IntegrationsUpdate,
  'keys create': KeysCreate,
  'keys list': KeysList,
  'keys revoke': KeysRevoke,
  'keys rotate': KeysRotate,
  'keys show': KeysShow,
  'limits set': LimitsSet,
  'limits show': LimitsShow,
  'members invite': MembersInvite,
  'members list': MembersList,
  'members remove': MembersRemove,
  'members role': MembersRole,
  'profiles list': ProfilesList,
  'profiles use': ProfilesUse,
  'requests list': RequestsList,
  'requests refused': RequestsRefused,
  'sessions list': SessionsList,
  'sessions show': SessionsShow,
  version: Version,
  'warnings list': WarningsList,
  'warnings set': WarningsSet,
  'warnings show': WarningsShow,
  'webhooks health': WebhooksHealth,
  'webhooks notices': WebhooksNotices,
  'webhooks pause': WebhooksPause,
  'webhooks prepare-secret': WebhooksPrepareSecret,
  'webhooks replay': WebhooksReplay,
  'webhooks resume': WebhooksResume,
  'webhooks rotate-secret': WebhooksRotateSecret,
  'webhooks set': WebhooksSet,
  'webhooks show': WebhooksShow,
  'webhooks switch-secret': WebhooksSwitchSecret,
  'webhooks test': WebhooksTest,
  'webhooks unset': WebhooksUnset,
  'webhooks verify': WebhooksVerify,
};

/** Commands of `svcadmin` that members have under other names. */
const renamed: readonly [inSvcadmin: string, inSvc: string, command: Command.Class][] = [
  ['partners remove-logo', 'logo remove', PartnersRemoveLogo],
  ['partners set-logo', 'logo set', PartnersSetLogo],
  ['prices show', 'prices', PricesShow],
  ['request', 'requests show', RequestsShow],
  ['wallets show', 'wallet', WalletsShow],
  ['wallets verify', 'verify-statement', WalletsVerify],
  ['wallets statement', 'statement', WalletsStatement],
  ['wallets entry', 'entry', WalletsEntry],
];

/** Commands that only `svc` has, or that do something else there. */
const own: Readonly<Record<string, Command.Class>> = {
  listen: Listen,
  login: Login,
  logout: Logout,
  trigger: Trigger,
  whoami: Whoami,
};

const withSameName = ([name, command]: [string, Command.Class]) => ({
  inSvcadmin: name,
  inSvc: name,
  command,
});
const fromSvcadmin = [
  ...Object.entries(shared).map(withSameName),
  ...renamed.map(([inSvcadmin, inSvc, command]) => ({ inSvcadmin, inSvc, command })),
];

/** The commands of `svc` that are also commands of `svcadmin`: the name in `svcadmin` by the name in `svc`. */
export const origins: Readonly<Record<string, string>> = Object.fromEntries(
  fromSvcadmin.map(({ inSvcadmin, inSvc }) => [inSvc, inSvcadmin]),
);

/** Summaries of commands whose summary in `svcadmin` says what only operators see or do. */
const summaries: Readonly<Record<string, string>> = {
  prices: 'Show what you pay for each billable event, in cents.',
  'members list': 'List the people who may sign in to the portal, newest first.',
  'members invite': 'Invite a person to the portal. The link is shown once.',
  'requests list': 'List requests of your programs and your users, newest first.',
  version: 'Show the version of svc.',
  wallet: 'Show your wallet.',
  statement: 'List the entries of your wallet, with opening and closing balance.',
  'limits show': 'Show your spend caps, and their use.',
  'limits set': 'Set your spend caps: billable events in a minute and an hour.',
  'warnings list': 'List warnings about your integration, newest first.',
  'warnings set': 'Set who is sent e-mails about warnings, and when the balance is low.',
  'warnings show': 'Show how you are warned.',
  'enrollments list': 'List your enrollments, newest first.',
};

/** Every command of `svc`, by its id. All procedures that they call are open to members. */
export const commands: Readonly<Record<string, Command.Class>> = Object.fromEntries(
  [...fromSvcadmin, ...Object.entries(own).map(withSameName)].map(({ inSvcadmin, inSvc, command }) => [
    inSvc.replaceAll(' ', ':'),
    makeMemberCommand(command, { inSvcadmin, inSvc, summary: summaries[inSvc] }),
  ]),
);
