import { DisplayName } from '../../../../../contracts/display-text.ts';
import { type MemberPasskey, passkeysOf } from '../../../../partners/members/member-passkeys.ts';
import { ApiError } from '../../../../platform/errors.ts';
import type { PortalParts } from '../../parts.ts';
import { asking } from '../kit/ask.ts';
import { hidden, withoutResult } from '../kit/forms.ts';
import type { Action, Given, PageContext, PageRow, Question, Section } from '../kit/page.ts';
import { text, time } from '../kit/text.ts';

/** Shows one passkey. Without a name, it is the one that the member made with the invitation. */
function passkeySection(
  { credentialId, name, addedAt, lastUsedAt }: MemberPasskey,
  { m, signedIn }: PageContext,
  isOnly: boolean,
): Section {
  const isUsed = signedIn.session.credentialId === credentialId;
  return {
    title: name ?? m.passkeyOfInvitation,
    note: isUsed ? m.passkeyOfSignIn : undefined,
    facts: [
      [m.created, time(addedAt.toISOString())],
      [m.lastUsed, time((lastUsedAt ?? addedAt).toISOString())],
    ],
    forms: [
      !isOnly && { act: 'remove', fields: [hidden('passkey', credentialId)], submit: m.remove, danger: true },
    ],
  };
}

/** `/portal/passkeys`: a member sees, adds and removes the own passkeys. */
export function passkeyPages({ signIn, changePasskeys }: PortalParts): PageRow[] {
  const add: Action = async (context, { answer = '', name: typed = '' }) => {
    const { data: name } = DisplayName.safeParse(typed);
    if (!name)
      throw new ApiError('bad_input', { description: 'Give the passkey a name of up to 120 characters' });
    await changePasskeys(context, 'added', (actor) =>
      signIn.addPasskey(context.signedIn, answer, { name, actor }),
    );
    return undefined;
  };

  const remove = withoutResult((context, { passkey = '' }) =>
    changePasskeys(context, 'removed', (actor) => signIn.removePasskey(context.signedIn, passkey, actor)),
  );

  /** Asks before a passkey ends. What the removal refuses is not asked. */
  const askToRemove = (context: PageContext, { passkey }: Given): Question | undefined => {
    const { m, signedIn } = context;
    const found = passkeysOf(signedIn.member).find(({ credentialId }) => credentialId === passkey);
    if (!found || !signedIn.isFresh) return undefined;
    const { title, facts, note = '' } = passkeySection(found, context, false);
    return {
      text: `${m.endsPasskey} ${note}`,
      isOfCompany: true,
      facts: [[m.label, text(title)], ...(facts ?? [])],
    };
  };

  /** Offers one more passkey. Without a recent sign-in, the server would refuse what the browser has already made. */
  function addSection({ m, signedIn }: PageContext): Section {
    const links = [{ text: m.signInAgain, to: '/sign-in?again=1&next=/passkeys' }];
    if (!signedIn.isFresh) return { title: m.addPasskey, note: m.signInAgainNote, links };
    const passkey = JSON.stringify(signIn.secondOptions(signedIn));
    const fields = [{ name: 'name', label: m.label }, hidden('answer', '')];
    return {
      title: m.addPasskey,
      note: m.passkeysNote,
      forms: [{ act: 'add', fields, passkey, submit: m.addPasskey }],
    };
  }

  async function view(context: PageContext) {
    const { m, signedIn } = context;
    const passkeys = passkeysOf(signedIn.member);
    const own = passkeys.map((passkey) => passkeySection(passkey, context, passkeys.length === 1));
    return { title: m.passkeys, sections: [...own, addSection(context)] };
  }
  return [
    {
      path: '/passkeys',
      nav: 'passkeys',
      needs: 'partners.show',
      view,
      actions: { add, remove: asking('partners.show', askToRemove, remove) },
    },
  ];
}
