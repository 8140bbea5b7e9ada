// Sends the secret of an invitation, which a link has in its fragment, so that no log on the way has it.
(() => {
  const form = document.querySelector('form[data-fragment]');
  const secret = location.hash.slice(1);
  if (!form || secret === '') return;
  history.replaceState(null, '', location.pathname);
  form.elements.code.value = secret;
  const button = form.querySelector('button');
  button.disabled = true;
  onRelease(() => {
    button.disabled = false;
  });
  form.submit();
})();

// Asks the browser for a passkey, and sends its answer with the form of the page.
(() => {
  const form = document.querySelector('form[data-passkey]');
  const button = form?.querySelector('button');
  const hint = document.querySelector('[data-unsupported]');
  if (!form || !button) return;
  const usable = window.PublicKeyCredential?.parseRequestOptionsFromJSON !== undefined;
  if (!usable) {
    if (hint) hint.hidden = false;
    return;
  }
  const release = () => {
    form.elements.answer.value = '';
    button.disabled = false;
  };
  release();
  onRelease(release);
  const answerOf = async () => {
    const options = JSON.parse(form.dataset.passkey);
    if (options.user) {
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      return navigator.credentials.create({ publicKey });
    }
    return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) });
  };
  form.addEventListener('submit', async (event) => {
    if (form.elements.answer.value !== '') return;
    event.preventDefault();
    button.disabled = true;
    try {
      const credential = await answerOf();
      form.elements.answer.value = JSON.stringify(credential.toJSON());
    } catch (error) {
      const existing = document.querySelector('[data-existing]');
      // The authenticator has a passkey that the options exclude. The same options can be used again.
      if (existing && error?.name === 'InvalidStateError') {
        existing.hidden = false;
        release();
        // The browser takes the focus from a disabled button, and the keyboard would begin again at the top of the page.
        if (document.activeElement === document.body) button.focus();
        return;
      }
      // The server shows the page again, with a new challenge.
      form.elements.answer.value = '{}';
    }
    form.submit();
  });
})();

// After a sign-in, `page.js` fills in the form that was sent before it.
(() => {
  if (!document.querySelector('form[action$="/sign-in"]')) return;
  try {
    const sent = sessionStorage.getItem('svc_portal_sent');
    if (sent)
      sessionStorage.setItem('svc_portal_sent', JSON.stringify({ ...JSON.parse(sent), hasToFill: true }));
  } catch {
    // The browser blocks storage. What was typed is lost.
  }
})();
