# The dashboard and releases in a container, by a user without rights. It serves the loopback interface only:
#
#     docker build -t dpviz . && docker run --rm --network host dpviz
#
# and http://localhost:8501 is for this machine alone. Without the network of the host, publish the port to loopback:
#
#     docker run --rm -p 127.0.0.1:8501:8501 -e STREAMLIT_SERVER_ADDRESS=0.0.0.0 dpviz
#
# At any address but loopback, or behind a proxy that says so in a header, the pages take no path of the machine: no file
# by its path and no account, so that releases are made with `dpviz release` in the container.
FROM python:3.12-slim@sha256:57cd7c3a7a273101a6485ba99423ee568157882804b1124b4dd04266317710de

WORKDIR /source
COPY pyproject.toml hatch_build.py requirements.txt README.md LICENSE app.py ./
COPY .streamlit ./.streamlit
COPY pages ./pages
COPY sample_data ./sample_data
COPY lessons ./lessons
COPY docs/reproduced ./docs/reproduced
COPY dpviz ./dpviz
RUN python -m pip install --no-cache-dir ".[app,release]"

RUN useradd --create-home --uid 10001 dpviz
USER dpviz
WORKDIR /home/dpviz
EXPOSE 8501
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8501/_stcore/health', timeout=4)"]
CMD ["dpviz", "open", "--port", "8501"]
