// The style sheet of the public pages, in the colours of the program, designed for phones first.

export const style = `
:root { color-scheme: light dark; --page: #f5f5f7; --panel: #fff; --text: #18181b; --soft: #52525b; --line: #d4d4d8; --bad: #b91c1c; --badsoft: #fef2f2; --room: min(1.35rem, 5vw);
  font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
@media (prefers-color-scheme: dark) { :root { --page: #111113; --panel: #1c1c1f; --text: #f4f4f5; --soft: #a1a1aa; --line: #3f3f46; --bad: #fca5a5; --badsoft: #3b1414; } }
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; color: var(--text); padding: min(1.25rem, 4vw);
  background: radial-gradient(140% 34rem at 50% -12rem, color-mix(in srgb, var(--paper) 28%, transparent), transparent), var(--page); }
main { width: 100%; max-width: 25rem; margin: 0 auto; }
h1, h2, p, ul, ol, dl, dd { margin: 0; padding: 0; }
[hidden] { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
a { color: inherit; }
:focus-visible { outline: 3px solid #3b82f6; outline-offset: 3px; }

.card { position: relative; overflow: hidden; color: var(--ink); border-radius: 1.5rem; padding: var(--room); container-type: inline-size;
  background: linear-gradient(150deg, color-mix(in srgb, var(--paper) 86%, #fff), var(--paper) 42%, color-mix(in srgb, var(--paper) 84%, #000));
  box-shadow: 0 1px 2px rgb(0 0 0 / .2), 0 18px 40px -12px color-mix(in srgb, var(--paper) 55%, rgb(0 0 0 / .5)); }
.card.void { --paper: #52525b; --ink: #fff; --label: #d4d4d8; }
.card.void :is(.logo, .strip) { filter: grayscale(1); }
main:has(.card.void) :is(.welcome, .foot) { display: none; }
.card header { display: flex; align-items: center; gap: .75rem; }
.logo { height: 2.5rem; max-width: 45%; object-fit: contain; border-radius: .6rem; flex: none; }
.card h1 { font-size: 1.1rem; line-height: 1.25; font-weight: 650; overflow-wrap: anywhere; }
.card header p { font-size: .85rem; opacity: .85; overflow-wrap: anywhere; }
.strip { display: block; width: calc(100% + 2 * var(--room)); margin: 1.1rem calc(-1 * var(--room)) 0; }
.label { display: block; color: var(--label); font-size: .7rem; font-weight: 600; letter-spacing: .09em; text-transform: uppercase; }
.balance { display: flex; flex-wrap: wrap; align-items: end; justify-content: space-between; gap: 1rem; margin: 1.5rem 0 1rem; }
.balance strong { display: block; font-size: min(3.25rem, 22cqi); overflow-wrap: anywhere; line-height: 1; font-weight: 680; letter-spacing: -.02em; font-variant-numeric: tabular-nums; }
.balance div { min-width: 0; overflow-wrap: anywhere; }
.balance div:last-child { text-align: right; }
.balance b { font-size: 1.1rem; font-weight: 620; }
.progress { display: block; appearance: none; width: 100%; height: .5rem; border: 0; border-radius: 1rem; overflow: hidden; background: color-mix(in srgb, var(--ink) 22%, transparent); }
.progress::-webkit-progress-bar { background: transparent; }
.progress::-webkit-progress-value { background: var(--ink); border-radius: 1rem; transition: inline-size .6s; }
.progress::-moz-progress-bar { background: var(--ink); border-radius: 1rem; }
.stamps { list-style: none; display: grid; grid-template-columns: repeat(5, 1fr); gap: .6rem; }
.stamps.many { grid-template-columns: repeat(8, 1fr); gap: .4rem; }
.stamps li { aspect-ratio: 1; display: grid; place-items: center; border-radius: 50%; border: 2px dashed color-mix(in srgb, var(--ink) 55%, transparent); }
.stamps svg { width: 52%; fill: none; stroke: currentColor; stroke-width: 2.6; stroke-linecap: round; stroke-linejoin: round; opacity: .6; }
.stamps .tick { display: none; }
.stamps .full { border: 0; background: var(--ink); color: var(--paper); }
.stamps .full svg { opacity: 1; }
.stamps .full .gift { display: none; }
.stamps .full .tick { display: block; }
.rewards { list-style: none; margin: 1rem 0 0; display: grid; gap: .4rem; }
.rewards li { display: flex; flex-wrap: wrap; overflow-wrap: anywhere; align-items: center; justify-content: space-between; gap: 1rem; }
.rewards .label { display: inline; }
.rewards b { font-weight: 500; }
.rewards .ready b { font-weight: 700; }
.expiring { margin-top: 1rem; }
.expiring ul { list-style: none; }
.celebration { position: relative; overflow: hidden; display: flex; gap: .8rem; align-items: center; margin-top: 1.1rem; padding: .8rem min(1rem, 4vw); border-radius: 1rem; background: var(--ink); color: var(--paper); animation: arrive .5s ease-out; }
.celebration svg { flex: none; width: 2rem; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; }
.celebration b { display: block; font-size: 1.1rem; line-height: 1.3; }
.celebration div { min-width: 0; overflow-wrap: anywhere; }
.celebration p { font-size: .92rem; overflow-wrap: anywhere; }
.celebration :is(svg, div) { position: relative; z-index: 1; }
.celebration i { position: absolute; top: -1rem; width: .4rem; height: .7rem; border-radius: .1rem; background: #f59e0b; animation: fall 2.2s ease-in 3 both; }
.celebration i:nth-of-type(3n) { background: #ec4899; }
.celebration i:nth-of-type(3n + 1) { background: #22c55e; }
.celebration i:nth-of-type(1) { left: 4%; animation-delay: 0.1s; }
.celebration i:nth-of-type(2) { left: 13%; animation-delay: 0.7s; }
.celebration i:nth-of-type(3) { left: 21%; animation-delay: 0.3s; }
.celebration i:nth-of-type(4) { left: 30%; animation-delay: 1.1s; }
.celebration i:nth-of-type(5) { left: 38%; animation-delay: 0.5s; }
.celebration i:nth-of-type(6) { left: 47%; animation-delay: 0s; }
.celebration i:nth-of-type(7) { left: 55%; animation-delay: 0.9s; }
.celebration i:nth-of-type(8) { left: 63%; animation-delay: 0.2s; }
.celebration i:nth-of-type(9) { left: 72%; animation-delay: 0.6s; }
.celebration i:nth-of-type(10) { left: 80%; animation-delay: 1.2s; }
.celebration i:nth-of-type(11) { left: 88%; animation-delay: 0.4s; }
.celebration i:nth-of-type(12) { left: 91%; animation-delay: 0.8s; }
@keyframes arrive { from { transform: scale(.92); opacity: 0; } }
@keyframes fall { 80% { opacity: 1; } to { transform: translateY(9rem) rotate(300deg); opacity: 0; } }
.code { display: grid; justify-items: center; gap: .15rem; margin-top: 1.4rem; padding: min(1.1rem, 4vw); background: #fff; color: #18181b; border-radius: 1rem; text-align: center; }
.code svg { width: min(10.5rem, 100%); height: auto; aspect-ratio: 1; margin-bottom: .6rem; }
.code.linear svg { width: 100%; max-width: 17rem; max-height: 6rem; aspect-ratio: auto; }
.code .label { color: #52525b; }
.code strong { font: 650 1.15rem/1.3 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; letter-spacing: .1em; min-width: 0; max-width: 100%; overflow-wrap: anywhere; }
.banner { background: #7f1d1d; color: #fff; font-weight: 600; border-radius: .75rem; padding: .5rem .8rem; margin-top: 1rem; }
.changed { animation: changed .7s ease-out; }
@keyframes changed { 30% { transform: scale(1.14); } }
@media (prefers-reduced-motion: reduce) { .changed, .celebration { animation: none; } .celebration i { display: none; } .progress::-webkit-progress-value { transition: none; } }

.side { margin-top: 1.4rem; }
.welcome { text-align: center; margin-bottom: 1.1rem; }
.welcome h2 { font-size: 1.35rem; line-height: 1.25; }
.welcome p, .note { color: var(--soft); font-size: .92rem; }
.message { display: flex; gap: .65rem; align-items: start; padding: .8rem 1rem; border-radius: 1rem; background: var(--panel); border: 1px solid var(--line); }
.message svg { flex: none; width: 1.2rem; margin-top: .15rem; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round; }
.message p { overflow-wrap: anywhere; }
.actions { display: grid; gap: .7rem; margin-top: 1rem; }
.button, button { display: flex; align-items: center; justify-content: center; gap: .6rem; width: 100%; min-height: 3.1rem; padding: .7rem 1rem; border: 0; border-radius: .9rem; font: inherit; font-weight: 640; text-align: center; overflow-wrap: anywhere; text-decoration: none; cursor: pointer; background: #000; color: #fff; border: 1px solid #3f3f46; }
.button:hover, button:hover { filter: brightness(1.15); }
.button svg { flex: none; width: 1.4rem; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; }
.back { margin-top: 1rem; border-radius: 1rem; background: var(--panel); border: 1px solid var(--line); }
.back summary { padding: .8rem 1rem; min-height: 2.75rem; font-weight: 600; cursor: pointer; }
.back dl, .back p { padding: 0 1rem .9rem; display: grid; gap: .8rem; }
.back dt { font-weight: 600; font-size: .9rem; }
.back dd { color: var(--soft); white-space: pre-line; overflow-wrap: anywhere; }
.elsewhere { display: none; }
.actions + .note, .elsewhere + .note { margin-top: 1rem; text-align: center; }
.foot { margin-top: 1rem; text-align: center; }

.join { border-radius: 1.5rem; overflow: hidden; background: var(--panel); border: 1px solid var(--line); box-shadow: 0 18px 40px -18px rgb(0 0 0 / .35); }
.hero { padding: 1.6rem var(--room) 1.5rem; color: var(--ink); background: linear-gradient(150deg, color-mix(in srgb, var(--paper) 86%, #fff), var(--paper) 42%, color-mix(in srgb, var(--paper) 84%, #000)); }
.hero .logo { height: 3.5rem; max-width: 100%; margin-bottom: .9rem; display: block; }
.hero h1 { font-size: min(1.6rem, 10vw); line-height: 1.2; letter-spacing: -.01em; overflow-wrap: anywhere; }
.hero p { margin-top: .4rem; opacity: .92; }
.perks { list-style: none; display: grid; gap: .5rem; margin-top: 1.1rem; font-size: .95rem; }
.perks li { overflow-wrap: anywhere; display: flex; gap: .6rem; align-items: start; }
.perks svg { flex: none; width: 1.2rem; margin-top: .12rem; fill: none; stroke: var(--label); stroke-width: 2.6; stroke-linecap: round; stroke-linejoin: round; }
form, .said { padding: 1.35rem var(--room); display: grid; gap: 1rem; overflow-wrap: anywhere; }
form > *, .perks span { min-width: 0; }
label { display: block; font-weight: 600; font-size: .95rem; margin-bottom: .3rem; }
label span { color: var(--soft); font-weight: 400; }
input { width: 100%; min-width: 0; min-height: 3rem; font: inherit; padding: .6rem min(.85rem, 3vw); border: 1px solid var(--line); border-radius: .8rem; background: var(--page); color: inherit; }
input:focus { border-color: #3b82f6; outline: 3px solid color-mix(in srgb, #3b82f6 35%, transparent); outline-offset: 0; }
.consent { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .2rem .7rem; align-items: start; }
.consent input { width: 1.4rem; height: 1.4rem; min-height: 0; margin: .1rem 0 0; accent-color: var(--paper); }
.consent label { font-weight: 400; margin: 0; overflow-wrap: anywhere; }
.consent .error { grid-column: 1 / -1; margin-top: 0; }
.consent.apart { border-top: 1px solid var(--line); padding-top: 1rem; }
.again { border-top: 1px solid var(--line); }
.again summary { padding: .8rem var(--room); min-height: 2.75rem; font-weight: 600; cursor: pointer; overflow-wrap: anywhere; }
.again form { padding-top: .4rem; }
input[aria-invalid=true] { border-color: var(--bad); border-width: 2px; }
.error { display: flex; gap: .4rem; color: var(--bad); margin-top: .35rem; font-size: .9rem; font-weight: 550; }
.summary { min-width: 0; background: var(--badsoft); color: var(--bad); border: 1px solid currentColor; border-radius: .8rem; padding: .75rem .9rem; font-weight: 600; }
form button { background: var(--paper); color: var(--ink); border-color: color-mix(in srgb, var(--ink) 40%, var(--paper)); font-size: 1.05rem; }
.lone { text-align: center; padding: 18vh 0; overflow-wrap: anywhere; }
.lone h1 { margin-bottom: .4rem; }

@media (min-width: 54rem) {
  body { padding: 3rem 2rem; display: grid; align-content: center; }
  main.wide { max-width: 52rem; display: grid; grid-template-columns: 25rem 1fr; gap: 3.5rem; align-items: center; }
  main.wide .side { max-width: 21rem; margin: 0; }
  .welcome { text-align: left; }
  .elsewhere { display: flex; gap: 1.1rem; align-items: center; margin-top: 1.25rem; padding: 1rem; border-radius: 1.1rem; background: var(--panel); border: 1px solid var(--line); }
  .elsewhere svg { flex: none; width: 7rem; height: 7rem; padding: .4rem; background: #fff; border-radius: .6rem; }
  main.wide .foot, main.wide .note { text-align: left; }
  main.split { max-width: 54rem; }
  .split .join { display: grid; grid-template-columns: 1fr 1.1fr; }
  .split .hero { padding: 2.4rem 2rem; display: grid; align-content: center; justify-items: start; }
  .split form, .split .said { padding: 2.4rem 2rem; align-content: center; }
}
`;
