import { MemberRole } from '../../../../contracts/admin/members.ts';
import { identifierKind } from '../../../../contracts/identifiers.ts';
import { asking } from './kit/ask.ts';
import { checkedByProcedure, select, withoutResult } from './kit/forms.ts';
import { listView, pageOf } from './kit/list.ts';
import type { Action, PageContext, PageRow, Question, View } from './kit/page.ts';
import { link, tableOf, text, time } from './kit/text.ts';

const memberReference = ({ params }: PageContext) => ({ memberId: params['member'] ?? '' });
const roleField = ({ m }: PageContext, chosen: MemberRole) => {
  const roles = MemberRole.options.map((role) => ({ value: role, text: m[role] }));
  return select('role', m.role, roles, chosen);
};

/** The most members whose e-mail addresses a page shows beside their actions. */
const mostEmails = 500;

/** The e-mail address of each member of the partner, by the member's id. Only owners may read them. */
export async function emailsOfMembers({ api, partnerId }: PageContext): Promise<Map<string, string | null>> {
  const members = await api.members.list({ partnerId, limit: mostEmails });
  return new Map(members.map(({ id, email }) => [id, email]));
}

async function list(context: PageContext): Promise<View> {
  const { api, m } = context;
  const members = await api.members.list(pageOf(context));
  const held = members.filter(({ heldUntil }) => heldUntil !== null);
  return listView(context, 'members', {
    empty: m.none,
    rows: members,
    columns: [
      [m.email, ({ id, email }) => link(email ?? id, `/members/${id}`)],
      [m.role, ({ role }) => text(m[role])],
      [m.status, ({ status }) => text(status)],
      [m.lastSignIn, ({ lastSignInAt }) => time(lastSignInAt)],
    ],
    links: [{ text: m.auditLog, to: '/log' }],
    below: [
      ...(held.length === 0
        ? []
        : [
            {
              title: m.heldInvitations,
              note: m.heldNote,
              table: tableOf(held, [
                [m.email, ({ id, email }) => link(email ?? id, `/members/${id}`)],
                [m.role, ({ role, invitedAs }) => text(m[invitedAs ?? role])],
                [m.validFrom, ({ heldUntil }) => time(heldUntil)],
              ]),
            },
          ]),
      {
        title: m.invite,
        note: m.inviteNote,
        forms: [
          {
            act: 'invite',
            fields: [{ name: 'email', label: m.email }, roleField(context, 'developer')],
            submit: m.invite,
          },
        ],
      },
    ],
  });
}

const invite: Action = async ({ api, m, partnerId }, { email = '', role }) => {
  const { link: url } = await api.members.invite({
    partnerId,
    email,
    role: checkedByProcedure(role),
  });
  return { secret: { label: `${m.invitationOf}: ${email}`, value: url, note: m.inviteNote } };
};

async function show(context: PageContext): Promise<View> {
  const { api, m } = context;
  const member = await api.members.show(memberReference(context));
  const isMember = member.status !== 'removed';
  const inviter =
    identifierKind(member.invitedBy) === 'member'
      ? await api.members.show({ memberId: member.invitedBy })
      : undefined;
  return {
    title: member.email ?? member.id,
    sections: [
      ...(member.heldUntil === null
        ? []
        : [
            {
              title: m.heldInvitations,
              note: m.heldNote,
              facts: [
                [m.role, text(m[member.invitedAs ?? member.role])] as const,
                [m.validFrom, time(member.heldUntil)] as const,
              ],
              forms: [
                { act: 'refuseInvitation', fields: [], submit: m.deviceDeny },
                { act: 'confirmInvitation', fields: [], submit: m.confirm, danger: true },
              ],
            },
          ]),
      {
        title: member.id,
        facts: [
          [m.role, text(m[member.role])],
          [m.status, text(member.status)],
          [m.created, time(member.createdAt)],
          [m.lastSignIn, time(member.lastSignInAt)],
          [m.invitedUntil, time(member.invitedUntil)],
          [m.invitedBy, text(inviter ? (inviter.email ?? inviter.id) : m.support)],
        ],
        forms: [
          isMember && { act: 'again', fields: [], submit: m.inviteAgain },
          isMember && { act: 'role', fields: [roleField(context, member.role)], submit: m.save },
          isMember && { act: 'remove', fields: [], submit: m.remove, danger: true },
        ],
      },
    ],
  };
}

/** Asks before a member loses rights, or the present passkey. */
const askAbout =
  (text: 'endsInvitation' | 'changesRole' | 'endsMember') =>
  async (context: PageContext): Promise<Question | undefined> => {
    const { api, m } = context;
    const { email, id, role, status, lastSignInAt } = await api.members.show(memberReference(context));
    // Someone who was invited and never signed in loses nothing that is in use.
    if (status !== 'active') return undefined;
    return {
      text: m[text],
      isOfCompany: true,
      facts: [
        [m.email, { text: email ?? id }],
        [m.role, { text: m[role] }],
        [m.lastSignIn, time(lastSignInAt)],
      ],
    };
  };

export const memberPages: readonly PageRow[] = [
  { path: '/members', nav: 'members', needs: 'members.list', view: list, actions: { invite } },
  {
    path: '/members/:member',
    needs: 'members.show',
    view: show,
    actions: {
      again: asking('members.invite', askAbout('endsInvitation'), async (context) => {
        // A member who was removed meanwhile has no address. The procedure refuses an empty address.
        const { email, role } = await context.api.members.show(memberReference(context));
        return invite(context, { email: email ?? '', role });
      }),
      confirmInvitation: withoutResult((context) =>
        context.api.members.confirmInvitation(memberReference(context)),
      ),
      refuseInvitation: withoutResult((context) =>
        context.api.members.refuseInvitation(memberReference(context)),
      ),
      role: asking(
        'members.setRole',
        askAbout('changesRole'),
        withoutResult((context, { role }) =>
          context.api.members.setRole({ ...memberReference(context), role: checkedByProcedure(role) }),
        ),
      ),
      remove: asking('members.remove', askAbout('endsMember'), async (context) => {
        await context.api.members.remove(memberReference(context));
        return { to: '/members' };
      }),
    },
  },
];
