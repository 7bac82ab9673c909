// The camera, which stays switched on or off on this device.
import { useEffect, useRef, useState } from 'react';
import { startCamera } from './camera.js';
import { cameraSetting } from './find.js';
import { texts } from './texts.js';

function Camera({ onCode, onRefused }: { onCode: (code: string) => void; onRefused: () => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const [isStopped, setStopped] = useState(false);
  const latest = useRef({ onCode, onRefused });
  latest.current = { onCode, onRefused };
  useEffect(() => {
    if (!video.current) return;
    return startCamera(video.current, {
      onCode: (code) => latest.current.onCode(code),
      onRefused: () => latest.current.onRefused(),
      onStopped: setStopped,
    });
  }, []);
  return (
    <>
      <video ref={video} aria-label={texts.find.view} muted playsInline hidden={isStopped} />
      {isStopped && (
        <p className="problem" role="alert">
          {texts.find.stopped}
        </p>
      )}
    </>
  );
}

export function CameraCard({ onCode }: { onCode: (code: string) => void }) {
  const [camera, setCamera] = useState(localStorage.getItem(cameraSetting) ?? 'off');
  const switchCamera = (to: string): void => {
    setCamera(to);
    // A camera that was refused once may be allowed at the next start.
    localStorage.setItem(cameraSetting, to === 'refused' ? 'on' : to);
  };
  return (
    <>
      {camera === 'on' && <Camera onCode={onCode} onRefused={() => switchCamera('refused')} />}
      {camera === 'refused' && (
        <p className="problem" role="alert">
          {texts.find.refused}
        </p>
      )}
      <button
        type="button"
        className={camera === 'on' ? '' : 'primary'}
        onClick={() => switchCamera(camera === 'on' ? 'off' : 'on')}
      >
        {camera === 'on' ? texts.find.cameraOff : texts.find.camera}
      </button>
    </>
  );
}
