// Where the browser has the Digital Credentials API, a button asks by it. Without it the page is as it was.
const form = document.querySelector('form.digital');
const trouble = form.querySelector('[role=status]');
const credentials = globalThis.DigitalCredential && navigator.credentials;
// A browser refuses a list in which it allows none, and some refuse a list with one that they do not allow.
const requests = JSON.parse(form.dataset.requests).filter(
  ({ protocol }) => credentials && (DigitalCredential.userAgentAllowsProtocol?.(protocol) ?? true),
);

async function ask(event) {
  event.preventDefault();
  trouble.hidden = true;
  const button = event.submitter;
  button.disabled = true;
  try {
    const { protocol, data } = await credentials.get({
      mediation: 'required',
      digital: { requests },
    });
    if (!requests.some((request) => request.protocol === protocol)) throw new Error(protocol);
    form.elements.protocol.value = protocol;
    form.elements.data.value = typeof data === 'string' ? data : JSON.stringify(data);
    // Unlike `submit`, this causes an event, which `wait.js` needs.
    form.removeEventListener('submit', ask);
    form.requestSubmit();
  } catch {
    trouble.hidden = false;
  }
  button.disabled = false;
  // The browser takes the focus from a disabled button, and the keyboard would begin again at the top of the page.
  if (document.activeElement === document.body) button.focus();
}

if (requests.length > 0) {
  // One button stands out, and it is this one: the other ways look like links.
  for (const other of document.querySelectorAll('form:not(.digital) .primary'))
    other.classList.replace('primary', 'quiet');
  form.addEventListener('submit', ask);
  form.hidden = false;
}
