// Reads cards with the camera, and opens it again when the system has taken it away.
import { type Found, formats, numberOf, unsafe } from './formats.js';

interface Detector {
  detect: (from: HTMLVideoElement) => Promise<Found[]>;
}
interface DetectorClass {
  new (options: { formats: string[] }): Detector;
  getSupportedFormats: () => Promise<readonly string[]>;
}

async function newDetector(): Promise<Detector> {
  const native = (globalThis as { BarcodeDetector?: DetectorClass }).BarcodeDetector;
  const readable = (await native?.getSupportedFormats().catch(() => [])) ?? [];
  if (native && readable.includes('qr_code'))
    return new native({ formats: formats.filter((format) => readable.includes(format)) });
  const { BarcodeDetector } = await import('./decoder.js');
  return new (BarcodeDetector as unknown as DetectorClass)({ formats }); // its formats are a narrower type
}

const everyMs = 120;
const againMs = 1_500;
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

interface Watcher {
  onCode: (code: string) => void;
  /** The camera is refused or missing. */
  onRefused: () => void;
  /** The camera gives no picture, or gives one again. It is opened again until it does. */
  onStopped: (isStopped: boolean) => void;
}

const refusals = ['NotAllowedError', 'NotFoundError', 'NotSupportedError', 'OverconstrainedError', 'SecurityError'];

/** Returns a function that ends it. */
export function startCamera(video: HTMLVideoElement, { onCode, onRefused, onStopped }: Watcher): () => void {
  let isOver = false;
  let stream: MediaStream | undefined;
  const close = () => {
    for (const track of stream?.getTracks() ?? []) track.stop();
    stream = undefined;
  };
  const isLive = () => stream?.getVideoTracks().some(({ readyState, muted }) => readyState === 'live' && !muted);

  async function open(): Promise<void> {
    close();
    stream = await navigator.mediaDevices.getUserMedia({ video: { facingMode: { ideal: 'environment' } } });
    if (isOver) return close();
    video.srcObject = stream;
    await video.play();
    onStopped(false);
  }

  async function watch(): Promise<void> {
    const detector = await newDetector();
    let before: string | undefined;
    while (!isOver) {
      await pause(everyMs);
      if (document.hidden) continue;
      if (!isLive()) await open();
      if (isOver || video.readyState < HTMLMediaElement.HAVE_CURRENT_DATA) continue;
      const [found] = await detector.detect(video);
      const isSure = found && (!unsafe.includes(found.format) || found.rawValue === before);
      before = found?.rawValue;
      if (found?.rawValue && isSure && !isOver) onCode(numberOf(found));
    }
  }

  async function keepWatching(): Promise<void> {
    while (!isOver) {
      try {
        await watch();
      } catch (error) {
        if (!navigator.mediaDevices || (error instanceof DOMException && refusals.includes(error.name))) {
          onRefused();
          return;
        }
        if (!isOver) onStopped(true);
        await pause(againMs);
      }
    }
  }

  void keepWatching();
  return () => {
    isOver = true;
    close();
  };
}
