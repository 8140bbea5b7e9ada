// The page goes on by itself when the session has. Without scripts the page asks for itself again instead.
const { state, version } = document.currentScript.dataset;

async function look() {
  const answer = await fetch(state, { cache: 'no-store' }).catch(() => undefined);
  const changed = answer && answer.status < 500 && (await answer.text()) !== version;
  if (changed) location.reload();
  else setTimeout(look, 1000);
}

setTimeout(look, 1000);
