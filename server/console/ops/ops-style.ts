/** The style of the pages for ops. The Content-Security-Policy contains its digest. */
export const style = `
  :root { color-scheme: light dark; --ground: #f1f4f3; --card: #fff; --ink: #13201b; --soft: #4d5c56; --line: #d8dfdc; --good: #17694f; --bad: #b3261e; --bad-ground: #fdeceb; --link: #17594a; }
  @media (prefers-color-scheme: dark) {
    :root { --ground: #0d1311; --card: #161e1b; --ink: #e8eeeb; --soft: #a8b6b0; --line: #2c3834; --good: #7ed3ba; --bad: #ff9c92; --bad-ground: #3b1a17; --link: #7ed3ba; }
  }
  * { box-sizing: border-box; }
  html { background: var(--ground); color: var(--ink); font: 15px/1.45 system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
  body { max-width: 80rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
  header { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; align-items: baseline; justify-content: space-between; margin-bottom: 1rem; }
  h1 { margin: 0; font-size: 1.5rem; overflow-wrap: anywhere; } h2 { margin: 0 0 .75rem; font-size: 1rem; } p { margin: 0; color: var(--soft); }
  a { color: var(--link); } :focus-visible { outline: 3px solid #3b82f6; outline-offset: 2px; }
  main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 20rem), 1fr)); }
  section { padding: 1rem 1.25rem; background: var(--card); border: 1px solid var(--line); border-radius: .75rem; }
  .wide { grid-column: 1 / -1; overflow-x: auto; }
  dl { display: flex; flex-wrap: wrap; gap: .75rem 1.75rem; margin: 0; }
  dl div { display: flex; flex-direction: column-reverse; }
  dt { color: var(--soft); font-size: .875rem; } dd { margin: 0; font-size: 1.75rem; font-weight: 600; line-height: 1.2; font-variant-numeric: tabular-nums; }
  .state { font-weight: 600; color: var(--good); } .state.bad { padding: 0 .5rem; background: var(--bad-ground); border-radius: .375rem; }
  .bad { color: var(--bad); }
  .mode { grid-column: 1 / -1; margin: .5rem 0 0; font-size: 1.125rem; } .live { color: var(--bad); }
  code { font: .875rem ui-monospace, monospace; overflow-wrap: anywhere; } small { display: block; color: var(--soft); }
  .good { color: var(--good); } ul { margin: 0; padding: 0; list-style: none; } li + li { margin-top: .5rem; }
  table { border-collapse: collapse; width: 100%; } th, td { padding: .5rem 1rem .5rem 0; text-align: start; vertical-align: top; overflow-wrap: break-word; }
  thead + tbody td { white-space: nowrap; } thead + tbody td.long { min-width: 16rem; white-space: normal; }
  .facts td { overflow-wrap: anywhere; width: 100%; }
  th { color: var(--soft); font-size: .875rem; font-weight: 400; white-space: nowrap; } tr + tr td, thead + tbody td { border-top: 1px solid var(--line); }
`;
