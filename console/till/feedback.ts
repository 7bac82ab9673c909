// Sound and vibration: a cashier does not always look. Who wants neither switches both off, and who asked this device
// for less motion gets no vibration.
let audio: AudioContext | undefined;

const setting = 'till-sound';
export const isAudible = (): boolean => localStorage.getItem(setting) !== 'off';
export const setAudible = (to: boolean): void => localStorage.setItem(setting, to ? 'on' : 'off');

/** Browsers let a page sound after the first touch; iOS takes the sound away in the background. */
export function allowSound(): void {
  audio ??= new AudioContext();
  if (audio.state !== 'running') void audio.resume();
}

function beep(frequency: number, seconds: number): void {
  if (audio?.state !== 'running') return;
  const [tone, loudness] = [audio.createOscillator(), audio.createGain()];
  tone.frequency.value = frequency;
  loudness.gain.setValueAtTime(0.2, audio.currentTime);
  loudness.gain.linearRampToValueAtTime(0, audio.currentTime + seconds);
  tone.connect(loudness).connect(audio.destination);
  tone.start();
  tone.stop(audio.currentTime + seconds);
}

function vibrate(pattern: number[]): void {
  if (!matchMedia('(prefers-reduced-motion: reduce)').matches) navigator.vibrate?.(pattern);
}

function give(frequency: number, seconds: number, pattern: number[]): void {
  if (!isAudible()) return;
  beep(frequency, seconds);
  vibrate(pattern);
}

export const feedback = {
  read: () => give(880, 0.08, [30]),
  noted: () => give(660, 0.08, [40]),
  sent: () => give(1_320, 0.15, [60]),
  refused: () => give(220, 0.4, [120, 80, 120]),
};
