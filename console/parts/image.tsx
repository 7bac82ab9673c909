// An image that is dropped or chosen: checked, scaled to the size that phones show, and stored as PNG.
import { useEffect, useRef, useState } from 'react';
import { DropZone, FileTrigger, Text } from 'react-aria-components';
import { texts } from '../texts.js';
import { Button, useFindings } from './form.js';

interface Fit {
  width: number;
  height: number;
  /** `cover` fills the size and crops the rest; `contain` keeps the whole image. */
  how: 'cover' | 'contain';
  /** A picture of another shape is refused instead of cropped. */
  exact?: boolean;
}

const maxBytes = 500_000;
/** Less than this part is cropped unseen. */
const unseen = 0.05;

async function load(file: Blob): Promise<HTMLImageElement> {
  const url = URL.createObjectURL(file);
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    return image;
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** PNG in base64. Throws a sentence for the user when the browser cannot read the file as an image. */
async function scaled(file: Blob, { width, height, how, exact = false }: Fit): Promise<string> {
  const image = await load(file).catch(() => {
    throw new Error(texts.images.unreadable);
  });
  const shape = (image.width * height) / (image.height * width);
  if (exact && Math.abs(shape - 1) > unseen) throw new Error(texts.images.notSquare(image.width, image.height));
  const ratio = Math[how === 'cover' ? 'max' : 'min'](
    width / image.width,
    height / image.height,
    how === 'cover' ? 0 : 1,
  );
  const canvas = document.createElement('canvas');
  const [shownWidth, shownHeight] = [Math.round(image.width * ratio), Math.round(image.height * ratio)];
  canvas.width = how === 'cover' ? width : shownWidth;
  canvas.height = how === 'cover' ? height : shownHeight;
  canvas
    .getContext('2d')
    ?.drawImage(image, (canvas.width - shownWidth) / 2, (canvas.height - shownHeight) / 2, shownWidth, shownHeight);
  const base64 = canvas.toDataURL('image/png').split(',')[1] ?? '';
  if (base64.length * 0.75 <= maxBytes) return base64;
  return scaled(file, { width: Math.round(width * 0.7), height: Math.round(height * 0.7), how });
}

interface ImageFieldProps {
  name: string;
  label: string;
  hint: string;
  fit: Fit;
  /** The colour of the card, on which the picture is shown. */
  ground: string | undefined;
  /** Base64. */
  value: string | undefined;
  onChange: (base64: string | undefined) => void;
}

export function ImageField({ name, label, hint, fit, ground, value, onChange }: ImageFieldProps) {
  const { error, warning } = useFindings(name);
  const [problem, setProblem] = useState<string>();
  // Scaling takes a moment, in which the user may have typed elsewhere.
  const latest = useRef(onChange);
  useEffect(() => {
    latest.current = onChange;
  });
  const take = async (file: Blob | undefined) => {
    if (!file) return;
    setProblem(undefined);
    await scaled(file, fit).then(
      (base64) => latest.current(base64),
      (failed: Error) => setProblem(failed.message),
    );
  };
  return (
    <div className="field">
      <span className="label">{label}</span>
      <DropZone
        className="drop"
        aria-label={texts.images.drop(label)}
        onDrop={async ({ items }) => {
          const item = items.find(({ kind }) => kind === 'file');
          if (item?.kind === 'file') await take(await item.getFile());
        }}
      >
        {value && <img src={`data:image/png;base64,${value}`} alt={label} style={{ background: ground }} />}
        <Text slot="label" className={warning === undefined ? 'hint' : 'hint warning'}>
          {warning ?? hint}
        </Text>
        <div className="row">
          <FileTrigger acceptedFileTypes={['image/*']} onSelect={(files) => take(files?.[0])}>
            <Button aria-label={texts.images.choose(label)}>{texts.images.chooseShort}</Button>
          </FileTrigger>
          {value && (
            <Button kind="link" aria-label={texts.images.remove(label)} onPress={() => onChange(undefined)}>
              {texts.images.removeShort}
            </Button>
          )}
        </div>
      </DropZone>
      {(problem ?? error) && <span className="error">{problem ?? error}</span>}
    </div>
  );
}
