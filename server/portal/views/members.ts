import { MemberRole } from '../../../contracts/admin/members.ts';
import { asGiven } from './forms.ts';
import type { Action, PageContext, PageRow, View } from './page.ts';
import { link, text, time } from './text.ts';

const memberOf = ({ params }: PageContext) => ({ memberId: params['member'] ?? '' });
const roleField = ({ m }: Pick<PageContext, 'm'>, value?: string) => ({
  name: 'role',
  label: m.role,
  kind: 'select' as const,
  value,
  options: MemberRole.options.map((role) => ({ value: role, text: m[role] })),
});

async function list(context: PageContext): Promise<View> {
  const { api, m, partnerId } = context;
  const [members, acts] = await Promise.all([
    api.members.list({ partnerId, limit: 200 }),
    api.members.acts({ partnerId, limit: 50 }),
  ]);
  const nameOf = new Map(members.map(({ id, email }) => [id, email]));
  return {
    title: m.members,
    sections: [
      {
        title: m.members,
        table: {
          headings: [m.email, m.role, m.status, m.lastSignIn],
          rows: members.map(({ id, email, role, status, lastSignInAt }) => [
            link(email ?? id, `/members/${id}`),
            text(m[role]),
            text(status),
            time(lastSignInAt),
          ]),
        },
      },
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
      {
        title: m.acts,
        table: {
          headings: [m.time, m.who, m.action, m.target, m.status],
          rows: acts.map(({ at, operatorId, action, target, outcome }) => [
            time(at),
            text(nameOf.get(operatorId) ?? operatorId),
            text(action),
            text(target),
            text(outcome),
          ]),
        },
      },
    ],
  };
}

const invite: Action = async ({ api, m, partnerId }, { email = '', role }) => {
  const { link: url } = await api.members.invite({ partnerId, email, role: asGiven<MemberRole>(role) });
  return { secret: { label: m.invitation, value: url, note: m.inviteNote } };
};

async function show(context: PageContext): Promise<View> {
  const { api, m } = context;
  const member = await api.members.show(memberOf(context));
  return {
    title: member.email ?? member.id,
    sections: [
      {
        title: member.id,
        facts: [
          [m.role, text(m[member.role])],
          [m.status, text(member.status)],
          [m.created, time(member.createdAt)],
          [m.lastSignIn, time(member.lastSignInAt)],
          [m.invitation, time(member.invitedUntil)],
        ],
        forms:
          member.status === 'removed'
            ? []
            : [
                { act: 'role', fields: [roleField(context, member.role)], submit: m.save },
                { act: 'remove', fields: [], submit: m.remove, danger: true },
              ],
      },
    ],
  };
}

export const memberPages: readonly PageRow[] = [
  { path: '/members', nav: 'members', needs: 'members.list', view: list, actions: { invite } },
  {
    path: '/members/:member',
    needs: 'members.show',
    view: show,
    actions: {
      role: async (context, { role }) => {
        await context.api.members.setRole({ ...memberOf(context), role: asGiven<MemberRole>(role) });
        return undefined;
      },
      remove: async (context) => {
        await context.api.members.remove(memberOf(context));
        return { to: '/members' };
      },
    },
  },
];
