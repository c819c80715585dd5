FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 COUNTERSIGN_DATA=/data
WORKDIR /app

COPY requirements.lock .
RUN pip install --no-cache-dir --require-hashes --no-deps -r requirements.lock

# An ordinary user: Postgres refuses to run as root, and so should a web server.
RUN useradd --system --uid 10001 --create-home countersign && install -d -o countersign -g countersign -m 755 /data
COPY . .
USER countersign
VOLUME /data
EXPOSE 8000
CMD ["python", "manage.py", "web", "--host", "0.0.0.0"]
