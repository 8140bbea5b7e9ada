import { describe, expect, it, vi } from 'vitest';
import { minutesAgoInWords, timeInWords } from '../../../server/pages/views/formatters.ts';

describe('timeInWords', () => {
  it('returns the time in the requested language and unit', () => {
    expect(timeInWords('en', 1, 'minute')).toBe('1 minute');
    expect(timeInWords('de', 12, 'minute')).toBe('12 Minuten');
    expect(timeInWords('fr', 365, 'day')).toBe('365\u00a0jours');
    expect(timeInWords('en', 8760, 'hour')).toBe('8760 hours');
    expect(minutesAgoInWords('es', 3)).toBe('hace 3 minutos');
  });

  it('creates one Intl.NumberFormat for three calls in the same language', () => {
    let made = 0;
    class Counted extends Intl.NumberFormat {
      constructor(...given: ConstructorParameters<typeof Intl.NumberFormat>) {
        super(...given);
        made += 1;
      }
    }
    vi.stubGlobal('Intl', { ...Intl, NumberFormat: Counted });
    for (const minutes of [5, 6, 7]) timeInWords('ar', minutes, 'minute');
    expect(made).toBe(1);
    vi.unstubAllGlobals();
  });
});
