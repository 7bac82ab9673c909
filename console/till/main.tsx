// The till's entry script.

import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { language } from '../language.js';
import { App } from './app.js';
import { keepOffline, startTill } from './device.js';
import { texts } from './texts.js';
import './style.css';

const place = document.getElementById('till');
if (!place) throw new Error('index.html has no place for the till.');

document.documentElement.lang = language;
document.title = texts.title;
const till = startTill();
void keepOffline(() => till.state.get().shown === undefined);

createRoot(place).render(
  <StrictMode>
    <App till={till} />
  </StrictMode>,
);
