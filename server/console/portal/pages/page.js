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
  // A screen reader does not say that the name of a button changes.
  const said = document.createElement('p');
  said.className = 'unseen';
  said.setAttribute('role', 'status');
  document.querySelector('main').append(said);
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
      said.textContent = button.getAttribute('aria-label');
      setTimeout(() => {
        say(copy);
        said.textContent = '';
      }, 2000);
    });
    if (element.matches('dd')) element.append(' ', button);
    else element.after(' ', button);
  }
})();

// After the answer to a form, a reload opens the page again. It would else send the form again, and do its act once more.
history.replaceState(null, '', location.href);

// Loads the page again until the answer that it waits for is there, but not while the member is at another element.
(() => {
  const { refresh } = document.querySelector('main').dataset;
  if (!refresh) return;
  setInterval(() => {
    if (document.activeElement.matches('body, [role=status]')) location.reload();
  }, Number(refresh) * 1000);
})();

// Sends each form once, and fills a form again whose member had to sign in first.
(() => {
  const key = 'svc_portal_sent';
  const who = document.querySelector('header .who')?.textContent;
  // A form with two buttons has two acts.
  const hasAct = (form, act) => [...form.querySelectorAll('[name=act]')].some(({ value }) => value === act);
  // Absent if the browser blocks storage. What was typed is then lost.
  const store = (() => {
    try {
      return window.sessionStorage;
    } catch {
      return undefined;
    }
  })();
  const sent = JSON.parse(store?.getItem(key) ?? 'null');
  // This link leads to the sign-in page, and back here.
  if (!document.querySelector('[data-again]')) store?.removeItem(key);
  if (sent?.hasToFill && sent.who === who && sent.path === location.pathname) {
    const form = [...document.querySelectorAll('main form[method=post]')].find((one) =>
      hasAct(one, sent.act),
    );
    for (const element of form?.elements ?? []) {
      if (!element.name || element.type === 'hidden' || element.type === 'submit') continue;
      if (element.type === 'checkbox') element.checked = element.name in sent.fields;
      else element.value = sent.fields[element.name] ?? '';
    }
    form?.querySelector('button')?.focus();
  }
  const busy = new Set();
  onRelease(() => busy.clear());
  document.addEventListener('submit', (event) => {
    const form = event.target;
    if (event.defaultPrevented || form.method !== 'post') return;
    if (busy.has(form)) {
      event.preventDefault();
      return;
    }
    busy.add(form);
    const { csrf, answer, ...fields } = Object.fromEntries(new FormData(form, event.submitter));
    // A file is not kept: the browser does not let a script choose it again.
    if (fields.act && !form.querySelector('input[type=file]'))
      store?.setItem(key, JSON.stringify({ who, path: location.pathname, act: fields.act, fields }));
    else store?.removeItem(key);
  });
})();

// Puts a chosen file into its form, as base64. The buttons wait until it is read.
(() => {
  // More than the server takes, so that it says what is wrong with a larger file. In base64, these bytes have no padding.
  const mostBytes = 270_000;
  for (const chooser of document.querySelectorAll('input[type=file]')) {
    const { form } = chooser;
    const buttons = form.querySelectorAll('button');
    const reader = new FileReader();
    const fill = (text) => {
      form.elements[chooser.dataset.into].value = text;
      for (const button of buttons) button.disabled = false;
    };
    chooser.disabled = false;
    // A reload may keep the choice, but not what was read.
    chooser.value = '';
    reader.addEventListener('load', () => fill(reader.result.replace(/^[^,]*,/, '')));
    reader.addEventListener('error', () => fill(''));
    chooser.addEventListener('change', () => {
      const [file] = chooser.files;
      // The file that was chosen before may still be read.
      reader.abort();
      for (const button of buttons) button.disabled = true;
      if (file) reader.readAsDataURL(file.slice(0, mostBytes));
      else fill('');
    });
  }
})();
