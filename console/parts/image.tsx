// An image that is dropped or chosen: checked, and reduced to a PNG for the sharpest screens.
import { useEffect, useRef, useState } from 'react';
import { DropZone, FileTrigger, Text } from 'react-aria-components';
import { texts } from '../texts.js';
import { Button, useFindings } from './form.js';

/** The size in pixels on the sharpest screens. */
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

/** The picture at a part of the size that it is to have: a PNG in base64. */
function drawn(image: HTMLImageElement, { width, height, how }: Fit, part: number): string {
  const ratio =
    Math[how === 'cover' ? 'max' : 'min'](width / image.width, height / image.height, how === 'cover' ? 0 : 1) * part;
  const [shownWidth, shownHeight] = [image.width * ratio, image.height * ratio].map((side) =>
    Math.max(Math.round(side), 1),
  ) as [number, number];
  const canvas = document.createElement('canvas');
  canvas.width = how === 'cover' ? Math.round(width * part) : shownWidth;
  canvas.height = how === 'cover' ? Math.round(height * part) : shownHeight;
  const context = canvas.getContext('2d');
  if (context) context.imageSmoothingQuality = 'high';
  context?.drawImage(
    image,
    (canvas.width - shownWidth) / 2,
    (canvas.height - shownHeight) / 2,
    shownWidth,
    shownHeight,
  );
  return canvas.toDataURL('image/png').split(',')[1] ?? '';
}

/** Throws a sentence for the user when the browser cannot read the file as an image. */
async function reduced(file: Blob, fit: Fit): Promise<string> {
  const image = await load(file).catch(() => {
    throw new Error(texts.images.unreadable);
  });
  const shape = (image.width * fit.height) / (image.height * fit.width);
  if (fit.exact && Math.abs(shape - 1) > unseen) throw new Error(texts.images.notSquare(image.width, image.height));
  let most = 1;
  let largest = drawn(image, fit, most);
  while (largest.length * 0.75 > maxBytes) {
    most *= 0.7;
    largest = drawn(image, fit, most);
  }
  return largest;
}

interface ImageFieldProps {
  name: string;
  label: string;
  hint: string;
  fit: Fit;
  /** The colour of the card, on which the picture is shown. */
  ground: string | undefined;
  /** The largest scale in base64. */
  value: string | undefined;
  onChange: (png: string | undefined) => void;
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
    await reduced(file, fit).then(
      (png) => latest.current(png),
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
