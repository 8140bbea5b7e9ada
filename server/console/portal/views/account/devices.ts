import type { DeviceSession } from '../../../../partners/members/member-session-store.ts';
import { ApiError } from '../../../../platform/errors.ts';
import { endedLoginError } from '../../device/device-logins.ts';
import { readUserCode, shownUserCode } from '../../device/user-code.ts';
import { freshUntil, type SignedIn } from '../../member-sessions.ts';
import type { PortalParts } from '../../parts.ts';
import { hidden } from '../kit/forms.ts';
import type { Action, Given, PageContext, PageRow, Section } from '../kit/page.ts';
import { link, text, time } from '../kit/text.ts';
import { emailsOfMembers } from '../members.ts';

/** The most codes that a member may try in a minute. A code lives 10 minutes: 50 tries cannot guess one of 20^8 codes. */
export const codesPerMinute = 5;

/** The message that describes what a program may do in each role. */
const roleMessages = {
  owner: 'grantsOwner',
  developer: 'grantsDeveloper',
  finance: 'grantsFinance',
  viewer: 'grantsViewer',
} as const;

/** Shows one login. @param email the address of the login's member */
function loginSection(login: DeviceSession, email: string, { m, now, memberId }: PageContext): Section {
  const fields = [hidden('login', login._id)];
  const changesUntil = freshUntil(login);
  const isOwn = login.memberId === memberId;
  return {
    title: isOwn ? login.device.name : `${login.device.name}: ${email}`,
    facts: [
      // The login of another member also shows whose it is.
      ...(isOwn ? [] : [[m.email, link(email, `/members/${login.memberId}`)] as const]),
      [m.deviceAddress, text(login.device.address)],
      [m.created, time(login.createdAt.toISOString())],
      [m.expires, time(login.expiresAt.toISOString())],
      [m.deviceChanges, changesUntil > now ? time(new Date(changesUntil).toISOString()) : text(m.notAtAll)],
    ],
    forms: [
      isOwn && { act: 'allow', fields, submit: m.deviceAllowChanges },
      { act: 'end', fields, submit: m.deviceEnd, danger: true },
    ],
  };
}

/** `/portal/devices`: a member confirms, sees and ends logins of `svc`. Owners can also end logins of other members. */
export function devicePages({ logins, limit, noteDevice }: PortalParts): PageRow[] {
  /** Finds the login request of a typed code. Each try counts, also with a wrong code, so that codes cannot be guessed. */
  async function findRequest({ signedIn }: PageContext, { code = '' }: Given) {
    await limit('portal user code', signedIn.member._id, { perMinute: codesPerMinute });
    return logins.show(code);
  }

  const ownLogins = ({ memberId }: PageContext): Promise<DeviceSession[]> => logins.list({ memberId });

  /** The logins of other members, which only owners may see and end. */
  async function loginsOfOthers({ role, partnerId, memberId }: PageContext): Promise<DeviceSession[]> {
    if (role !== 'owner') return [];
    return (await logins.list({ partnerId })).filter((login) => login.memberId !== memberId);
  }

  /** The login that a form names. @throws ApiError `not_found` if it is not one of these */
  function loginIn({ login }: Given, among: readonly DeviceSession[]): DeviceSession {
    const found = among.find(({ _id }) => _id === login);
    if (!found) throw endedLoginError();
    return found;
  }

  /** Shows a login request, so that the member can check where it comes from before deciding. */
  const find: Action = async (context, given) => {
    const { m, role } = context;
    const { name, address, createdAt, expiresAt } = await findRequest(context, given);
    // The code is well formed, because it has a request.
    const code = readUserCode(given['code'] ?? '') ?? '';
    const fields = [hidden('code', code)];
    const section: Section = {
      title: `${m.deviceConfirm} ${shownUserCode(code)}`,
      note: m.deviceWarning,
      hasFocus: true,
      facts: [
        [m.device, text(name)],
        [m.deviceAddress, text(address)],
        [m.time, time(createdAt.toISOString())],
        [m.until, time(expiresAt.toISOString())],
        [m.role, text(m[role])],
        [m.deviceGrants, text(m[roleMessages[role]])],
      ],
      forms: [
        { act: 'confirm', fields, submit: m.deviceAllow },
        { act: 'deny', fields, submit: m.deviceDeny, danger: true },
      ],
    };
    return { sections: [section] };
  };

  const decision =
    (action: 'confirm' | 'deny', decide: (code: string, signedIn: SignedIn) => Promise<void>): Action =>
    async (context, given) => {
      const { signedIn, request } = context;
      // `findRequest` also counts this try of a code.
      const { name } = await findRequest(context, given);
      await decide(given['code'] ?? '', signedIn);
      await noteDevice(action, signedIn, { request, name });
      return undefined;
    };

  /** Lets a program change secrets. Owners cannot allow this to programs of others. */
  const allow: Action = async (context, given) => {
    const { signedIn, request } = context;
    const { _id, device } = loginIn(given, await ownLogins(context));
    await logins.allowChanges(_id, signedIn);
    await noteDevice('allow', signedIn, { request, name: device.name });
    return undefined;
  };

  const end: Action = async (context, given) => {
    const { signedIn, request } = context;
    const endable = [...(await ownLogins(context)), ...(await loginsOfOthers(context))];
    const { _id, device, memberId } = loginIn(given, endable);
    // To end a login of another member is a change of that member.
    if (memberId !== context.memberId && !signedIn.isFresh) throw new ApiError('passkey_required');
    await logins.end(_id, memberId);
    await noteDevice('end', signedIn, { request, name: device.name, memberId });
    return undefined;
  };

  async function view(context: PageContext) {
    const { m } = context;
    const own = await ownLogins(context);
    const others = await loginsOfOthers(context);
    // Roles that see only their own logins may not list members.
    const emails = others.length === 0 ? new Map<string, string | null>() : await emailsOfMembers(context);
    const sectionOf = (login: DeviceSession) =>
      loginSection(login, emails.get(login.memberId) ?? login.memberId, context);
    return {
      title: m.devices,
      sections: [
        {
          title: m.deviceNew,
          note: m.deviceNote,
          forms: [
            {
              act: 'find',
              fields: [{ name: 'code', label: m.deviceCode, placeholder: 'WDJB-MJHT' }],
              submit: m.show,
            },
          ],
        },
        ...(own.length > 0 ? own.map(sectionOf) : [{ title: m.deviceLogins, note: m.none }]),
        ...others.map(sectionOf),
        { title: m.lostDevice, note: m.lostDeviceNote, links: [{ text: m.passkeys, to: '/passkeys' }] },
      ],
    };
  }

  const confirm = decision('confirm', logins.confirm);
  const deny = decision('deny', logins.deny);
  const actions = { find, confirm, deny, allow, end };
  return [{ path: '/devices', nav: 'devices', needs: 'partners.show', view, actions }];
}
