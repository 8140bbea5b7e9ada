import { MemberRole } from '../../../contracts/admin/members.ts';
import { asGiven, change, select } from './forms.ts';
import type { Action, PageContext, PageRow, View } from './page.ts';
import { filled, link, nextPage, pageSize, text, time } from './text.ts';

const memberOf = ({ params }: PageContext) => ({ memberId: params['member'] ?? '' });
const roleField = ({ m }: PageContext, chosen: MemberRole) => {
  const roles = MemberRole.options.map((role) => ({ value: role, text: m[role] }));
  return select('role', m.role, roles, chosen);
};

async function list(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const { after = '' } = query;
  const members = await api.members.list({ partnerId, limit: pageSize, ...filled({ after }) });
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
        next: nextPage('/members', members),
        links: [{ text: m.auditLog, to: '/log' }],
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
                { act: 'again', fields: [], submit: m.inviteAgain },
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
      again: async (context) => {
        const { email, role } = await context.api.members.show(memberOf(context));
        return invite(context, { email: email ?? '', role });
      },
      role: change((context, { role }) =>
        context.api.members.setRole({ ...memberOf(context), role: asGiven<MemberRole>(role) }),
      ),
      remove: async (context) => {
        await context.api.members.remove(memberOf(context));
        return { to: '/members' };
      },
    },
  },
];
