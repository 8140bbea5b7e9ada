// The page goes on by itself when the session has. Without scripts the page asks for itself again instead.
const { state, version } = document.currentScript.dataset;
// No reload for 30 s after a form is sent: it would cancel the form, and lose its cookie.
let sentAt = -30_000;

addEventListener('submit', (event) => {
  if (!event.defaultPrevented) sentAt = performance.now();
});

async function look() {
  const answer = await fetch(state, { cache: 'no-store' }).catch(() => undefined);
  const changed = answer && answer.status < 500 && (await answer.text()) !== version;
  if (changed && performance.now() - sentAt > 30_000) location.reload();
  else setTimeout(look, 1000);
}

setTimeout(look, 1000);
