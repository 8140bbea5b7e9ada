import type { OldSecret } from '../../../../../contracts/admin/keys.ts';
import type { Messages } from '../../messages/en.ts';
import { asking } from './ask.ts';
import { numberIn, select } from './forms.ts';
import type { AskingAction, Field, PageContext, Question, Section } from './page.ts';
import { tableOf, text, time, utcText } from './text.ts';

const oneDay = '86400';

/** The form that replaces a secret, and asks how long the old one stays valid. @param submit the text of its button */
export const rotationForm = (m: Messages, submit: string) => {
  const keepOld: Field = select(
    'keepOld',
    m.keepOld,
    [
      { value: oneDay, text: m.day },
      { value: '3600', text: m.hour },
      { value: '604800', text: m.week },
      { value: '0', text: m.notAtAll },
    ],
    oneDay,
  );
  return { act: 'rotate', fields: [{ ...keepOld, sets: ['keepOldSeconds'] }], submit };
};

/** The gentler answer to a question about a secret that would end immediately. */
export const keepOldForADay = (m: Messages) => ({ given: { keepOld: oneDay }, submit: m.keepDay });

/**
 * Makes the action of that form, which asks before the secret of a live record is replaced.
 * @param needs the procedure that `rotate` calls
 * @param usesOf what uses the secret; undefined in test mode
 * @param rotate returns the new secret, and when the old one ends. Without a time, the old one has ended
 */
export const rotation = (
  needs: string,
  usesOf: (context: PageContext) => Promise<Pick<Question, 'facts' | 'table'> | undefined>,
  rotate: (
    context: PageContext,
    keepOld: { keepOldSeconds: number },
  ) => Promise<{ label: string; value: string; oldUntil: string | null | undefined }>,
): AskingAction =>
  asking(
    needs,
    async (context, { keepOld }) => {
      const { m } = context;
      const uses = await usesOf(context);
      if (!uses) return undefined;
      if (keepOld === '0') return { ...uses, text: m.endsSecret, gentle: keepOldForADay(m) };
      return { ...uses, text: m.keepsOld };
    },
    async (context, { keepOld }) => {
      const { m } = context;
      const { oldUntil, ...secret } = await rotate(context, { keepOldSeconds: numberIn(keepOld) });
      return { secret: { ...secret, note: oldUntil ? `${m.oldUntil} ${utcText(oldUntil)}.` : m.oldEnded } };
    },
  );

/** Makes the table of a record's secrets: the current one, which has no expiry, and the old ones. */
export const secretTable = (
  m: Messages,
  { last4, lastUsedAt }: { last4: string | null; lastUsedAt: string | null },
  oldSecrets: readonly OldSecret[],
): NonNullable<Section['table']> =>
  tableOf(
    [{ last4, lastUsedAt, expiresAt: null }, ...oldSecrets],
    [
      [m.secret, (secret) => text(secret.last4 && `…${secret.last4}`)],
      [m.lastUsed, (secret) => time(secret.lastUsedAt)],
      [m.expires, ({ expiresAt }) => (expiresAt ? time(expiresAt) : text(m.never))],
    ],
  );
