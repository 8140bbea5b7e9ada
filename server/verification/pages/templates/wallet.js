// Where the browser has the Digital Credentials API, a button asks by it. Without it the page is as it was.
const form = document.querySelector('form.digital');
const trouble = form.querySelector('[role=status]');
const request = JSON.parse(form.dataset.request);
const credentials = globalThis.DigitalCredential && navigator.credentials;
const allows = credentials && (DigitalCredential.userAgentAllowsProtocol?.(request.protocol) ?? true);

async function ask(event) {
  event.preventDefault();
  trouble.hidden = true;
  const button = event.submitter;
  button.disabled = true;
  try {
    const { protocol, data } = await credentials.get({
      mediation: 'required',
      digital: { requests: [request] },
    });
    if (protocol !== request.protocol) throw new Error(protocol);
    form.elements.data.value = typeof data === 'string' ? data : JSON.stringify(data);
    form.submit();
  } catch {
    trouble.hidden = false;
  }
  button.disabled = false;
}

if (allows) {
  // One button stands out, and it is this one.
  for (const other of document.querySelectorAll('form:not(.digital) .primary'))
    other.classList.remove('primary');
  form.addEventListener('submit', ask);
  form.hidden = false;
}
