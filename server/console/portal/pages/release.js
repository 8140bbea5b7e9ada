// Calls a function each time a form can be sent again: the member came back to the page, or the last answer was stopped.
// biome-ignore lint/correctness/noUnusedVariables: the other scripts of the page call it.
const onRelease = (() => {
  const { navigation } = window;
  let last;
  navigation?.addEventListener('navigate', ({ signal }) => {
    last = signal;
  });
  return (release) => {
    window.addEventListener('pageshow', release);
    // A navigation that takes the place of another one begins within the same task. Its answer is still to come.
    navigation?.addEventListener('navigateerror', () => setTimeout(() => last.aborted && release()));
  };
})();
