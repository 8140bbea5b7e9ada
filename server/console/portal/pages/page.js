// Adds the local time beside each time in UTC, if the browser has another zone.
(() => {
  const { lang } = document.documentElement;
  const local = new Intl.DateTimeFormat(lang, { dateStyle: 'short', timeStyle: 'long' });
  for (const time of document.querySelectorAll('time[datetime]')) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime()) || at.getTimezoneOffset() === 0) continue;
    const small = document.createElement('small');
    small.textContent = local.format(at);
    time.after(' ', small);
  }
})();

// Adds a button to each id of the facts and headings, and to secrets and results.
(() => {
  const { copy, copied } = document.querySelector('main').dataset;
  if (!navigator.clipboard) return;
  const isId = ({ textContent }) => /^[a-z]{3}_[0-9A-Za-z]{22}$/.test(textContent.trim());
  const ids = [...document.querySelectorAll('dd, h2:not(.unseen)')].filter(isId);
  for (const element of [...ids, ...document.querySelectorAll('section.done > pre')]) {
    const text = element.textContent.trim();
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'plain copy';
    // A secret is not read out.
    const name = element.matches('pre') ? element.previousElementSibling?.textContent : text;
    const say = (word) => {
      button.textContent = word;
      button.setAttribute('aria-label', `${word}: ${name}`);
    };
    say(copy);
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(text);
      say(copied);
      setTimeout(say, 2000, copy);
    });
    if (element.matches('dd')) element.append(' ', button);
    else element.after(' ', button);
  }
})();
