import { TRPCError } from '@trpc/server';
import { dryRunnable } from '../../../../platform/admin-api/dry-runs.ts';
import { DryRunEnd } from '../../../../platform/database/audit/dry-run.ts';
import { requirePermission } from '../../calls/bind-input.ts';
import { hidden } from './forms.ts';
import type { Action, AskingAction, Form, Given, PageContext, Question, View } from './page.ts';

/** The field that says that the member has answered the question of an action. */
const confirmed = 'confirmed';

/**
 * Makes an action that asks before it ends something.
 * @param needs the procedure of the action. Members who may not call it now are not asked
 * @param ask returns undefined where nothing live would end
 */
export const asking = (
  needs: string,
  ask: (context: PageContext, given: Given) => Promise<Question | undefined> | Question | undefined,
  run: Action,
): AskingAction => ({ needs, ask: async (context, given) => ask(context, given), run });

/**
 * Runs an action with calls whose changes are only checked.
 * @throws what the real run would throw
 */
async function tryOut({ run }: AskingAction, context: PageContext, given: Given): Promise<void> {
  try {
    await run({ ...context, api: context.dryRunApi }, given);
  } catch (error) {
    if (!(error instanceof TRPCError && error.cause instanceof DryRunEnd)) throw error;
  }
}

/**
 * The question that an action has before it runs for this form; undefined if it can run.
 * @throws the refusal of the change, before the member reads a question about it
 */
export const questionOf = async (
  action: Action | AskingAction,
  context: PageContext,
  given: Given,
): Promise<Question | undefined> => {
  if (!('ask' in action) || given[confirmed] === 'yes') return undefined;
  const { signedIn, role } = context;
  requirePermission({ role, isFresh: signedIn.isFresh }, action.needs);
  const question = await action.ask(context, given);
  if (question && dryRunnable.has(action.needs)) await tryOut(action, context, given);
  return question;
};

export const runOf = (action: Action | AskingAction): Action => ('ask' in action ? action.run : action);

/** A form that sends what was typed once more. */
const again = (given: Given, form: Pick<Form, 'act' | 'submit' | 'danger'>): Form => ({
  ...form,
  fields: Object.entries({ ...given, [confirmed]: 'yes' })
    .filter(([name]) => name !== 'csrf' && name !== 'act')
    .map(([name, value]) => hidden(name, value)),
});

/** The page that asks. The gentle way comes first, then the way back, and what was asked for comes last. */
export function askingView(
  { text: consequence, isOfCompany = false, facts = [], table, gentle }: Question,
  given: Given,
  { m, path }: PageContext,
): View {
  const { act = '' } = given;
  return {
    title: m.askTitle,
    sections: [
      {
        title: m.askTitle,
        hasFocus: true,
        note: isOfCompany ? consequence : `${m.askLive} ${consequence}`,
        facts,
        ...(table ? { table } : {}),
        links: [{ text: m.goBack, to: path }],
        forms: [
          gentle !== undefined &&
            again({ ...given, ...gentle.given }, { act: gentle.act ?? act, submit: gentle.submit }),
          again(given, { act, submit: m.goOn, danger: true }),
        ],
      },
    ],
  };
}
