// Passkeys by WebAuthn. Without WebAuthn, or without scripts, the page is as it was.
const form = document.querySelector('form.passkey');
const trouble = form.querySelector('[role=alert]');
const shownAt = Date.now();
// A challenge lasts two minutes.
const challengeMs = 90_000;

async function options() {
  if (Date.now() - shownAt < challengeMs) return JSON.parse(form.dataset.passkey);
  const answer = await fetch(form.dataset.options, { cache: 'no-store' });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

async function ask() {
  const given = await options();
  return given.user
    ? navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(given) })
    : navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(given) });
}

async function send(event) {
  event.preventDefault();
  const { submitter: button } = event;
  button.disabled = true;
  trouble.hidden = true;
  try {
    form.elements.credential.value = JSON.stringify((await ask()).toJSON());
    form.submit();
  } catch (error) {
    // A device that has a passkey of this user already makes no other.
    const later = error.name === 'InvalidStateError' && document.querySelector('button[value=no-passkey]');
    // The session is at another step since, so this page asks for no passkey any more.
    if (error.message === '409') location.reload();
    else if (later) later.click();
    // Cancelled by the user, or the device has no passkey for this site. Browsers do not tell which.
    else trouble.hidden = false;
  }
  button.disabled = false;
  // The browser takes the focus from a disabled button, and the keyboard would begin again at the top of the page.
  if (document.activeElement === document.body) button.focus();
}

if (globalThis.PublicKeyCredential?.parseRequestOptionsFromJSON && globalThis.top === globalThis) {
  form.addEventListener('submit', send);
  form.hidden = false;
  const can = document.querySelector('input[name=passkey]');
  if (can && (await PublicKeyCredential.isUserVerifyingPlatformAuthenticatorAvailable())) can.value = 'can';
}
