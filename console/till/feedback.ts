// Sound and vibration: a cashier does not always look.
let audio: AudioContext | undefined;

/** Browsers let a page sound after the first touch. */
export function allowSound(): void {
  audio ??= new AudioContext();
  if (audio.state === 'suspended') void audio.resume();
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

const vibrate = (pattern: number[]) => navigator.vibrate?.(pattern);

export const feedback = {
  read() {
    beep(880, 0.08);
    vibrate([30]);
  },
  done() {
    beep(1_320, 0.15);
    vibrate([60]);
  },
  refused() {
    beep(220, 0.4);
    vibrate([120, 80, 120]);
  },
};
