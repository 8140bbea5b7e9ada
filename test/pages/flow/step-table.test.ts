import { describe, expect, it } from 'vitest';
import { decisions, stepTable } from '../../../server/pages/flow/step-table.ts';
import { isLive, type Step } from '../../../server/sessions/steps.ts';

const cells = Object.entries(stepTable).flatMap(([step, devices]) =>
  Object.entries(devices).map(([device, cell]) => ({ step: step as Step, device, cell })),
);

describe('the table of steps and devices', () => {
  it('has a page for the end of a session on both devices, and no form there', () => {
    const ended = cells.filter(({ step }) => !isLive(step));
    expect(ended).toHaveLength(8);
    for (const { cell } of ended) expect(cell).toMatchObject({ form: 'none', takes: [] });
    expect(ended.map(({ cell }) => cell.page)).not.toContain('none');
  });

  it('leads only the computer to the partner', () => {
    const leaving = cells.filter(({ cell }) => cell.page === 'leave');
    expect(leaving.map(({ device }) => device)).toEqual(Array(4).fill('computer'));
  });

  it('takes decisions only where a form handles them, each by one form', () => {
    for (const { cell } of cells) if (cell.form === 'none') expect(cell.takes).toEqual([]);
    const handled = new Map<string, string>();
    for (const { cell } of cells)
      for (const decision of cell.takes) {
        expect(handled.get(decision) ?? cell.form).toBe(cell.form);
        handled.set(decision, cell.form);
      }
    // `cancel` and `deny` end the session at every live step.
    expect([...handled.keys(), 'cancel', 'deny'].toSorted()).toEqual([...decisions].toSorted());
  });

  it('asks for consent at the computer only, and for the confirmation at the phone only', () => {
    const devicesOf = (form: string) =>
      cells.flatMap(({ cell, device }) => (cell.form === form ? [device] : []));
    expect(devicesOf('consent')).toEqual(['computer']);
    expect(devicesOf('confirm')).toEqual(['phone']);
    expect(devicesOf('decline passkey')).toEqual(['computer']);
  });
});
